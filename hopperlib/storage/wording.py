"""What storage says of what it finds: the words of ``findings.toml``."""

from __future__ import annotations

from functools import partial

from hopperlib.finding import worded

say = partial(worded, "hopperlib.storage")
