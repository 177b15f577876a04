"""The README's picture shows the page of today."""

import importlib.util


def test_the_picture_shows_the_answer_of_today(root):
    spec = importlib.util.spec_from_file_location("pictures", root / "scripts" / "pictures.py")
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    assert pictures.kept_digest() == pictures.answer_digest(), "the page changed: `make html pictures` retakes it"
