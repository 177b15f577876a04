"""Launches as data, and the error of a line that is refused."""

import pytest

from hopperlib.placement.components import Component, Launch, LaunchError


def test_an_error_carries_its_parts() -> None:
    error = LaunchError("-S", 7, "must be from 1 to 6", words="apsched: no")
    assert (error.flag, error.value, error.rule, error.words) == ("-S", "7", "must be from 1 to 6", "apsched: no")
    assert error.message == str(error) == "apsched: no: -S 7 must be from 1 to 6"
    assert isinstance(error, ValueError)


def test_an_error_without_value_reads_as_well() -> None:
    assert str(LaunchError("-j", "", "is not an option")) == "-j is not an option"


def test_a_long_value_is_cut() -> None:
    assert LaunchError("-cc", "1," * 200, "is long").value == "1," * 38 + "1..."


def test_components_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Component(command=(), tasks=1).tasks = 2  # type: ignore[misc]


def test_of_an_option_given_twice_the_last_holds() -> None:
    component = Component(command=(), tasks=1, options=(("-n", "1"), ("-n", "2")))
    assert component.given("-n") == "2"
    assert component.given("-N") is None


def test_threads_of_a_component() -> None:
    component = Component(command=(), tasks=2, threads_per_task=6)
    assert Launch(launcher="aprun", text="", components=(component,)).threads_of(component) == 6
    launch = Launch(launcher="aprun", text="", components=(component, component), openmp_threads=3)
    assert launch.threads_of(component) == 3
    assert launch.tasks == 4
