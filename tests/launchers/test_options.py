"""Options of a launcher line, in the styles of aprun and GNU."""

import pytest

from hopperkit.launchers.options import Option, option_table, programs, read_options
from hopperkit.launchers.words.shell import Word
from hopperlib.placement.components import Component, LaunchError


def option(*names: str, value="required", **rest) -> Option:
    return Option(programs=("aprun",), names=names, value=value, **rest)


CRAY = (
    option("-n", bears=True),
    option("-cp", refused="is refused"),
    option("-sn", bears=True),
    option("-ss", value="none"),
    option("-S", bears=True),
    option("-t"),
)
GNU = (
    option("-n", "--ntasks", bears=True),
    option("--ntasks-per-node", bears=True),
    option("-l", "--label", value="none"),
    option("-u", value="none"),
    option("-K", "--kill", value="optional"),
    option("-o", "--output"),
)


def as_words(text: str) -> list[Word]:
    return [Word(text=part) for part in text.split()]


def cray(text: str, known: tuple[str, ...] = ("-n", "-cp", "-sn", "-ss", "-S", "-t")) -> tuple[list[str], list[str]]:
    given, command = read_options(as_words(text), CRAY, known, where="aprun on Hopper", style="aprun")
    return [f"{option.name}={option.value}" for option in given], [word.text for word in command]


def gnu(text: str, known: tuple[str, ...] | None = None) -> tuple[list[str], list[str]]:
    given, command = read_options(as_words(text), GNU, known, where="srun on Toy", style="gnu")
    return [f"{option.name}={option.value}" for option in given], [word.text for word in command]


@pytest.mark.parametrize(
    ("text", "given", "command"),
    [
        ("-n 4 -S 3 a -n 5", ["-n=4", "-S=3"], ["a", "-n", "5"]),
        ("-n4 -sn2 -ss -S3 a", ["-n=4", "-sn=2", "-ss=", "-S=3"], ["a"]),
        ("-n -4 a", ["-n=-4"], ["a"]),
        ("-n=4 a", ["-n=4"], ["a"]),
        ("a", [], ["a"]),
        ("", [], []),
        ("- a", [], ["-", "a"]),
    ],
)
def test_aprun_options(text: str, given: list[str], command: list[str]) -> None:
    assert cray(text) == (given, command)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-n", "-n needs a value"),
        ("-cp f a", "-cp is refused"),
        ("-j 2 a", "-j is not an option of aprun on Hopper; it has -S -cp -n -sn -ss -t"),
        ("-ssx a", "-ssx is not an option of aprun on Hopper; did you mean -ss?"),
        ("-N 4 a", "-N is not an option of aprun on Hopper; did you mean -n?"),
        ("--pes 4 a", "--pes is not an option of aprun on Hopper"),
    ],
)
def test_aprun_options_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        cray(text)
    assert caught.value.message.startswith(message)


def test_an_option_of_another_aprun_is_refused_by_name() -> None:
    with pytest.raises(LaunchError, match="-t is not an option of aprun on Hopper") as caught:
        cray("-t 60 a", known=("-n",))
    assert (caught.value.flag, caught.value.value) == ("-t", "60")


@pytest.mark.parametrize(
    ("text", "given", "command"),
    [
        ("-n4 --ntasks-per-node=2 a", ["-n=4", "--ntasks-per-node=2"], ["a"]),
        ("--ntasks 4 a", ["-n=4"], ["a"]),
        ("-lun4 a", ["-l=", "-u=", "-n=4"], ["a"]),
        ("--lab a", ["-l="], ["a"]),
        ("--ntasks-p 2 a", ["--ntasks-per-node=2"], ["a"]),
        ("-K a", ["-K="], ["a"]),
        ("-K1 --kill=0 a", ["-K=1", "-K=0"], ["a"]),
        ("-- -n a", [], ["-n", "a"]),
    ],
)
def test_getopt_options(text: str, given: list[str], command: list[str]) -> None:
    assert gnu(text) == (given, command)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("--ntask=4", "--ntask is ambiguous: --ntasks, --ntasks-per-node; write more of the name"),
        ("--ntakss=4", "--ntakss is not an option of srun on Toy; did you mean --ntasks?"),
        ("--label=1", "--label 1 takes no value"),
        ("-n", "-n needs a value"),
        ("-z", "-z is not an option of srun on Toy"),
    ],
)
def test_getopt_options_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        gnu(text)
    assert caught.value.message.startswith(message)


def test_one_spelling_in_the_machine_file_is_enough() -> None:
    assert gnu("--ntasks=4 a", known=("-n",))[0] == ["-n=4"]
    with pytest.raises(LaunchError, match="--output is not an option"):
        gnu("--output=x a", known=("-n",))


def test_unknown_values_are_refused_only_where_they_matter() -> None:
    unknown = Word(text="$X", unknown="takes $X")
    given, _ = read_options([Word(text="-o"), unknown], GNU, where="srun", style="gnu")
    assert [option.value for option in given] == ["$X"]
    with pytest.raises(LaunchError) as caught:
        read_options([Word(text="-n"), unknown], GNU, where="srun", style="gnu")
    assert caught.value.message == "-n $X takes $X"
    with pytest.raises(LaunchError, match=r"-n\$X takes"):
        read_options([Word(text="-n$X", unknown="takes $X")], GNU, where="srun", style="gnu")
    with pytest.raises(LaunchError, match="takes"):
        read_options([Word(text="--ntasks=$X", unknown="takes $X")], GNU, where="srun", style="gnu")


def test_repeated_options_are_kept_in_order() -> None:
    assert gnu("-n 4 -n 8")[0] == ["-n=4", "-n=8"]


def test_programs_are_parted_by_a_colon_of_its_own() -> None:
    parts = programs(as_words("-n 4 a:b : -n 2 b"))
    assert [[word.text for word in part] for part in parts] == [["-n", "4", "a:b"], ["-n", "2", "b"]]


@pytest.mark.parametrize("program", ["aprun", "srun", "sbatch", "pals", "openmpi", "mpich", "intelmpi"])
def test_the_table_says_of_each_option_what_is_needed(program: str) -> None:
    table = option_table(program)
    assert all(name.startswith("-") for option in table for name in option.names)
    assert not any(option.bears and option.refused for option in table if program in ("aprun", "srun"))
    assert {option.field for option in table} <= {None, *Component._fields}


def test_options_of_srun_alone_are_refused_by_sbatch() -> None:
    with pytest.raises(LaunchError, match="--cpu-bind is an option of srun, not of sbatch"):
        read_options(as_words("--cpu-bind=cores"), "sbatch", where="sbatch")
