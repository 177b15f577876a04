"""Placements compared with the stored answers of Open MPI, MPICH and Intel MPI (scripts/ask_mpiexec.py runs them again)."""

from collections import Counter
from functools import cache
from itertools import islice

import pytest

from tests.launchers.mpiexec.compare import Answer, answers, counted, packaged, verdict

EVERY = 16
"""Of so many answers one is held in each run of the tests, all of them nightly."""

# Intel MPI up to 2021.14 prints no rule for what its older library does, and more of it cannot be told. Releases asked for
# 60 lines alone (2021.10 and 2021.11, which lie between two ways, 2021.12, 2021.15 and 2021.16) are held to less.
CANNOT_TELL = {"openmpi": 0.01, "mpich": 0.0, "intelmpi": 0.21}


def lists_cpus_on_4(answer: Answer) -> bool:
    """Whether Open MPI 4.1 was restricted to a list of CPUs, which it refuses on a simulated node."""
    return answer.launcher == "openmpi" and answer.release.startswith("4.") and "--cpu-" in answer.line


@cache
def of_launcher(launcher: str, every: int) -> dict[tuple[str, str], Counter[str]]:
    asked = (answer for answer in answers(launcher) if not lists_cpus_on_4(answer))
    return counted(islice(asked, 0, None, every))


def test_what_open_mpi_4_does_with_a_list_of_cpus_is_not_guessed() -> None:
    """Its stored answers are uninformative: each refuses the simulated node, because it is not the one it ran on."""
    listed = [answer for answer in answers("openmpi") if lists_cpus_on_4(answer)]
    assert len(listed) >= 80
    assert all("attempt to assign hardware locations" in answer.answer for answer in listed)
    assert {verdict(answer, packaged(answer)) for answer in listed} == {"cannot tell"}


@pytest.mark.parametrize("every", [EVERY, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(("launcher", "lines"), [("openmpi", 4890), ("mpich", 2400), ("intelmpi", 6100)])
def test_placed_as_the_launcher_does(launcher: str, lines: int, every: int) -> None:
    counts = of_launcher(launcher, every)
    total = sum(counts.values(), Counter())
    assert total.total() >= lines // every
    for (_, release), how in counts.items():
        answered = how.total() - how["cannot tell"]
        assert how["equal"] >= 0.995 * answered, (release, how)
        # Of few answers the share is less sure.
        few = how.total() * every < 200
        share = 0.35 if few else CANNOT_TELL[launcher]
        assert how["cannot tell"] <= share * how.total() + (0 if every == 1 else 5), (release, how)
    assert total["elsewhere"] + total["taken wrongly"] <= 0.002 * total.total()


@pytest.mark.parametrize("launcher", ["openmpi", "mpich", "intelmpi"])
def test_every_shape_of_node_is_in_the_table(launcher: str) -> None:
    shapes = Counter(answer.node for answer in answers(launcher))
    # Two sockets of four NUMA nodes, sockets that share one, interleaved numbers, one socket, several L3 caches.
    assert len(shapes) >= 5
    assert min(shapes.values()) >= 100
    assert any(node.endswith("interleaved") for node in shapes)
    assert any(node.split("x")[1] == "0" for node in shapes)


def test_without_a_release_only_what_both_do_is_sure() -> None:
    """The answers of 4.1 and 5.0 to one line, compared with the package's answer for a line that names no release."""
    asked = list(answers("openmpi"))
    both = {
        (answer.node, answer.line): [other.answer for other in asked if other[2:4] == answer[2:4]]
        for answer in islice(asked, 0, None, 60)
    }
    sure = 0
    for (node, line), real in both.items():
        answer = Answer("openmpi", "", node, line, real[0])
        package = packaged(answer)
        if not package.startswith(("?", "!")):
            assert {verdict(answer._replace(answer=each), package) for each in real} == {"equal"}, (node, line, package)
            sure += 1
    assert sure >= 20


def test_a_difference_is_seen() -> None:
    answer = Answer("mpich", "5.0.2", "2x1x1x4x1 cores", "-n 2 -bind-to socket", "0-3 4-7")
    package = packaged(answer)
    assert package == "0-3 4-7"
    assert verdict(answer, package) == "equal"
    assert verdict(answer._replace(answer="0 1"), package) == "elsewhere"
    assert verdict(answer._replace(answer="! no"), package) == "taken wrongly"
    assert verdict(answer, "! no") == "refused wrongly"
    assert verdict(answer, "? why") == "cannot tell"
