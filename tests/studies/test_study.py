"""Studies are found by name, in the order of the book."""

from __future__ import annotations

import pytest

from hopperlib import studies
from hopperlib.studies.study import ROLES, Study


def test_built_studies_are_in_the_order_of_the_book():
    order = [name for names in studies.PARTS.values() for name in names]
    assert list(studies.BUILT) == [name for name in order if name in studies.BUILT]


@pytest.mark.parametrize("name", ["astrology", "torus2"])
def test_a_study_that_is_not_built_is_refused(name):
    with pytest.raises(ValueError, match=f"there is no study '{name}' among: machines, "):
        studies.load(name)


@pytest.mark.parametrize("name", studies.BUILT)
def test_checks_say_how_they_relate(name):
    study = studies.load(name)
    assert isinstance(study, Study)
    for check in study.checks():
        assert check.role in ROLES
        assert check.id.startswith(f"{name}.")
