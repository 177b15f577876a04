"""What the pages' Python gets of the package is enough: no module of it imports one that stays behind."""

import re
import tomllib


def test_no_module_of_the_pages_imports_one_that_stays_behind(root):
    package = root / "hopperlib"
    browser = tomllib.loads((package / "site" / "pages.toml").read_text(encoding="utf-8"))["browser"]
    paths = [package / part for part in browser["parts"]]
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))]
    assert len(files) > 100
    # At the left edge: what a function imports only when it is called may need more than the pages offer.
    imported = {
        (file.relative_to(package).as_posix(), name)
        for file in files
        for name in re.findall(r"^(?:from|import) hopperlib\.(\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    there = {part.split("/")[0].removesuffix(".py") for part in browser["parts"]}
    assert {(file, name) for file, name in imported if name not in there} == set()
