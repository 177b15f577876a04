"""Work that copies of the build's process share."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from sphinx.errors import ExtensionError

from hopperbook.site.engine.parallel import in_parts

# From Python 3.12 on a process with threads, as a worker of the tests is, warns that its copy has none.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@pytest.mark.parametrize("count", [0, 1, 5])
def test_each_item_is_worked_on_once(tmp_path, count):
    def work(number):
        with (tmp_path / str(number)).open("a", encoding="utf-8") as file:
            file.write("done")

    in_parts(SimpleNamespace(_warncount=3), work, range(count))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {str(each): "done" for each in range(count)}


def test_what_fails_or_warns_in_a_copy_stops_the_build():
    app = SimpleNamespace(_warncount=0)

    def fails(number):
        return 1 // (number - 1)

    def warns(number):
        app._warncount += number == 2

    for work in (fails, warns):
        with pytest.raises(ExtensionError, match="not finished"):
            in_parts(app, work, range(4))
    assert app._warncount == 0
