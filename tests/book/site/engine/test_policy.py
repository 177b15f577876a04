"""The Content-Security-Policy of a page."""

from __future__ import annotations

import base64
import hashlib

import pytest

from hopperbook.site.engine.finishing import inline_scripts, policy, with_policy

PAGE = """<!DOCTYPE html>
<html><head><meta charset="utf-8" /><title>A</title>
<script>let a = "<b>" && 1;</script>
<script src="b.js"></script>
<script type="application/json">{"a": 1}</script>
<script type="module">import "./c.mjs";</script>
</head><body><script>
second()
</script></body></html>
"""


def sources(text, name):
    """The sources that a policy allows for one kind."""
    return next(rule.split()[1:] for rule in text.split("; ") if rule.split()[0] == name)


def test_scripts_that_run_are_found():
    assert inline_scripts(PAGE) == ['let a = "<b>" && 1;', 'import "./c.mjs";', "\nsecond()\n"]


def test_each_is_allowed_by_its_hash():
    allowed = sources(policy(["one()", "two()", "one()"]), "script-src")
    digest = base64.b64encode(hashlib.sha256(b"one()").digest()).decode()
    assert allowed[:3] == ["'self'", "'wasm-unsafe-eval'", f"'sha256-{digest}'"]
    assert len(allowed) == 4


def test_nothing_is_allowed_by_default():
    text = policy([])
    assert sources(text, "default-src") == ["'none'"]
    for kind in ("script-src", "connect-src", "font-src"):
        assert not [
            source for source in sources(text, kind) if "unsafe-inline" in source or ":" in source or "*" in source
        ]


def test_it_stands_before_any_script_and_only_once():
    first = with_policy(PAGE)
    assert first.index("Content-Security-Policy") < first.index("<script>")
    assert first.index("<meta charset") < first.index("Content-Security-Policy")
    assert with_policy(first) == first


def test_a_page_without_a_head_is_refused():
    with pytest.raises(ValueError, match="has no <head>"):
        with_policy("<p>text</p>")


def test_every_page_has_one(workshop_folder):
    pages = [path for path in workshop_folder.rglob("*.html") if "_static" not in path.parts]
    assert {"index.html", "404.html", "search.html"} <= {path.name for path in pages}
    for page in pages:
        assert page.read_text(encoding="utf-8").count("Content-Security-Policy") == 1, page
