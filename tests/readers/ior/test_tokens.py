"""Numbers, sizes, command lines and error messages of IOR."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.readers.ior.tokens import binary_size, count, error_in, number, rate_factor, read_command


@pytest.mark.parametrize("word", ["-", "NA", "nan", "-nan", "inf", "", "4x", "1.2.3", "-12.5"])
def test_what_is_no_number_is_none(word):
    assert number(word) is None
    assert count(word) is None


@pytest.mark.parametrize("word", ["0", "-1", "1.5"])
def test_counts_start_at_one(word):
    assert count(word) is None


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1 MiB", 2**20),
        ("4096 bytes", 4096),
        ("1000 GiB", 1000 * 2**30),
        ("1.50 KiB", 1536),
        ("256k", 256 * 2**10),
        ("2g", 2 * 2**30),
        ("16777216", 2**24),
        ("20 MB", 20_000_000),
        ("-", None),
        ("0 bytes", None),
        ("many", None),
    ],
)
def test_sizes(text, size):
    assert binary_size(text) == size


def test_headings_name_the_unit():
    assert rate_factor("bw(MiB/s)") == 1
    assert rate_factor("bw(GiB/s)") == 1024
    assert rate_factor("Max(MB)") == pytest.approx(1e6 / 2**20)
    assert rate_factor("throughput(bytes/s)") == 2**-20
    assert rate_factor("Max") == 1


def test_command_line():
    command = read_command("src/C/IOR -a POSIX -F -b 4m -t 1m -s 2 -i 3 -e -o /scratch/demo/f")
    assert [command[name] for name in ("api", "files", "segments", "repetitions")] == ["POSIX", True, 2, 3]
    assert command["accesses"] == ("write", "read")


@pytest.mark.parametrize(
    ("line", "accesses"),
    [
        ("ior -w -t 1m", ("write",)),
        ("ior -r", ("read",)),
        ("ior -w -r", ("write", "read")),
        ("ior", ("write", "read")),
        # A check alone transfers nothing that would be printed.
        ("ior -R", ()),
        # Versions differ in what they make of letters run together; a script says more than the line.
        ("ior -wr", None),
        ("ior -f script.ior", None),
        ("", None),
    ],
)
def test_accesses_asked_for(line, accesses):
    assert read_command(line)["accesses"] == accesses


def test_long_options_give_no_letters():
    command = read_command("mdtest dfs.chunk_size=1048576 --dfs.write=1 -b=4m")
    assert command["block"] == 4 * 2**20
    assert command["accesses"] == ("write", "read")


@pytest.mark.parametrize(
    ("line", "hard", "said"),
    [
        ("** error **", True, ""),
        ("ERROR in aiori-POSIX.c (line 105): cannot open file.", True, "cannot open file"),
        ('ior ERROR: open64("/x", 66, 0664) failed, errno 13, Permission denied (aiori-POSIX.c:412)', True,
         'open64("/x", 66, 0664) failed, errno 13, Permission denied'),
        ("ERROR: No such file or directory", False, "No such file or directory"),
        ("slurmstepd: error: *** STEP 12.0 ON n1 CANCELLED AT 2026 ***", False,
         "slurmstepd: error: *** STEP 12.0 ON n1 CANCELLED AT 2026 ***"),
    ],
)  # fmt: skip
def test_errors(line, hard, said):
    assert error_in(line) == (hard, said)


@pytest.mark.parametrize(
    "line", ["", "WARNING: error: cannot open shared memory", "write  12  3", "max errors allowed"]
)
def test_no_errors(line):
    assert error_in(line) is None


@given(st.text(max_size=300))
def test_any_line_is_read(line):
    read_command(line)
    error_in(line)
    size = binary_size(line)
    assert size is None or size >= 1
