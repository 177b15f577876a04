"""What ``hopper`` alone prints."""

import re

import pytest

from hopperkit.cli import NAMES, hopper
from hopperkit.cli.first_screen import STUDIES, first_screen


@pytest.fixture(params=["", "archer2", "x" * 300])
def screen(request, monkeypatch):
    monkeypatch.setenv("HOPPER_MACHINE", request.param)
    return first_screen()


def test_it_fits_a_screen(screen):
    lines = screen.split("\n")
    assert len(lines) <= 21
    assert max(map(len, lines)) <= 94


def test_every_command_is_named_once(screen):
    words = re.findall(r"[a-z][a-z-]+", screen)
    missing = [name for name in NAMES if name not in words and name not in ("identify", "machines", "nodes")]
    assert not missing
    assert set(STUDIES) <= set(NAMES)


def test_the_program_prints_it(capsys):
    with pytest.raises(SystemExit) as ended:
        hopper.main([])
    assert ended.value.code == 0
    assert capsys.readouterr().out == first_screen() + "\n"


def test_help_has_the_studies_last(capsys):
    with pytest.raises(SystemExit):
        hopper.main(["--help"])
    questions, _, studies = capsys.readouterr().out.partition("Questions of the studies only:")
    assert "  place " in questions
    assert all(f"  {name} " in studies and f"\n  {name} " not in questions for name in STUDIES)
