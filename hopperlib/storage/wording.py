"""What storage says of what it finds: the words of ``findings.toml``."""

from functools import partial

from hopperlib.finding import worded

say = partial(worded, "hopperlib.storage")
