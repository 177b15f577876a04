"""Values of launcher options: numbers, sizes, lists."""

import pytest

from hopperkit.launchers import option_values as values
from hopperlib.placement.components import LaunchError


@pytest.mark.parametrize(
    ("text", "gb"),
    [
        ("16", 16 / 1024),
        ("16M", 16 / 1024),
        ("2G", 2.0),
        ("2g", 2.0),
        ("2048K", 2 / 1024),
        ("1T", 1024.0),
        ("1.5GB", 1.5),
    ],
)
def test_memory_sizes_without_suffix_are_megabytes(text: str, gb: float) -> None:
    # Cray's manual: "16 == 16M == 16 megabytes".
    assert values.memory_gb("-m", text) == pytest.approx(gb)


def test_pbs_memory_without_suffix_is_bytes() -> None:
    assert values.memory_gb("mppmem", "1073741824", default_unit="") == 1.0
    assert values.memory_gb("mppmem", "1300mb") == pytest.approx(1300 / 1024)
    assert values.memory_gb("mppmem", "1073741824b") == 1.0


@pytest.mark.parametrize("text", ["", "G", "2GG", "-2G", "1e9", "two", "0x10"])
def test_a_size_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(LaunchError, match="must be a number with an optional suffix K, M, G or T"):
        values.memory_gb("-m", text)


def test_a_number_beyond_all_counts_is_refused_by_its_bound() -> None:
    # Python itself refuses to read 5,000 digits.
    for digits in (30, 5000):
        with pytest.raises(LaunchError, match="has more than 18 digits"):
            values.whole_number("-n", "9" * digits)
        with pytest.raises(LaunchError, match="must be from 1 to 6, the cores of a NUMA node"):
            values.whole_number("-S", "9" * digits, high=6, bound="the cores of a NUMA node")


@pytest.mark.parametrize("text", ["", "3.5", "four", "1_000", "٣"])
def test_a_number_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(LaunchError, match="must be a whole number"):
        values.whole_number("-n", text)


def test_bounds_say_where_they_come_from() -> None:
    with pytest.raises(LaunchError) as caught:
        values.whole_number("-d", "25", high=24, bound="the cores of a node")
    assert caught.value.message == "-d 25 must be from 1 to 24, the cores of a node"
    with pytest.raises(LaunchError, match="-n 0 must be at least 1"):
        values.whole_number("-n", "0")


def test_lists_keep_their_order_and_run_both_ways() -> None:
    assert values.number_list("-cc", "4,0-2,7-5", what="cores") == (4, 0, 1, 2, 7, 6, 5)
    assert values.cpu_list("-cc", "0,x,2-3:6-7") == ((0, None, 2, 3), (6, 7))


@pytest.mark.parametrize("text", ["", "1,", "1--2", "a", "0-", "1;2"])
def test_a_list_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(LaunchError, match="must be a list of cores such as"):
        values.number_list("-cc", text, what="cores")


def test_an_endless_list_is_refused_before_it_is_made() -> None:
    with pytest.raises(LaunchError, match="lists more than 100,000 cores"):
        values.number_list("-cc", "0-999999999", what="cores")
    with pytest.raises(LaunchError, match="from 1 to 100000"):
        values.repeated("--cpu-bind", "0*999999999")


def test_slurm_lists_repeat_with_an_asterisk() -> None:
    # The srun man page: map_cpu:0*4,3*4.
    assert values.repeated("--cpu-bind", "0*4,3*4") == ("0",) * 4 + ("3",) * 4
    with pytest.raises(LaunchError, match="has an empty entry"):
        values.repeated("--cpu-bind", "0,,3")


def test_masks_name_their_bits() -> None:
    # LUMI user guide: 0x5500 are cores 8, 10, 12 and 14.
    assert values.hex_mask("--cpu-bind", "0x5500") == (8, 10, 12, 14)
    assert values.hex_mask("--cpu-bind", "fe") == (1, 2, 3, 4, 5, 6, 7)
    with pytest.raises(LaunchError, match="sets no bit"):
        values.hex_mask("--cpu-bind", "0x0")
    with pytest.raises(LaunchError, match="must be a hexadecimal mask"):
        values.hex_mask("--cpu-bind", "0xzz")


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("nid000001", 1),
        ("nid[000001-000004]", 4),
        ("nid[1-4,9],login1", 6),
        ("a,b,c", 3),
        ("./file", None),
        ("n[1-", None),
    ],
)
def test_host_lists_are_counted(text: str, hosts: int | None) -> None:
    assert values.host_count(text) == hosts


def test_variables_are_read_from_their_assignments() -> None:
    assert values.assigned(["ALL", "A=1", "B==2", "A="]) == {"A": "", "B": "=2"}
