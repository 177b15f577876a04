"""IO500: every line of a summary as printed, and the files next to it. Runs are synthetic."""

import gzip
import math
import os

import pytest

from hopperkit.readers.ior.io500 import read_io500, read_io500_summary
from hopperkit.readers.ior.reader import read_ior
from hopperkit.readers.ior.tokens import error_in
from hopperkit.readers.source import text_of
from hopperlib.errors import InputError

BANDWIDTH = {"ior-easy-write": 40.0, "ior-hard-write": 2.5, "ior-easy-read": 50.0, "ior-hard-read": 5.0}
METADATA = dict.fromkeys(("mdtest-easy-write", "mdtest-easy-stat", "mdtest-easy-delete", "mdtest-hard-write", "mdtest-hard-stat", "mdtest-hard-read", "mdtest-hard-delete", "find"), 10.0)  # fmt: skip
# The fourth root of 25,000 and the eighth of 10 ** 8.
MEAN = 25_000**0.25

IOR = """IOR-3.3.0: MPI Coordinated Test of Parallel I/O
Command line        : ./ior -w -t 47008 -b 47008 -s 1000 -D 300 -O stoneWallingWearOut=1 -a POSIX
Options:
api                 : POSIX
access              : single-shared-file
segments            : 1000
tasks               : 10
clients per node    : 5
repetitions         : 1
xfersize            : 47008 bytes
blocksize           : 47008 bytes
aggregate filesize  : 448.30 MiB
stonewallingTime    : 300
Results:
access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
write     1.50       45.91      45.91      0.01       100.0      0.01       100.0      0
"""


def summary(old=False, mark=""):
    lines = []
    for number, (name, value) in enumerate((BANDWIDTH | METADATA).items()):
        unit = ("GB/s" if old else "GiB/s") if name.startswith("ior") else ("kiops" if old else "kIOPS")
        begin = (
            f"{'BW' if name.startswith('ior') else 'IOPS'}   phase {number}            {name.replace('-', '_')}"
            if old
            else name
        )
        lines.append(f"[RESULT{mark if number == 0 else ''}] {begin}      {value:.6f} {unit} : time 300.5 seconds")
    lines.append("[      ]            timestamp        0.000000 kIOPS : time 0.001 seconds")
    lines.append(
        f"[SCORE{'' if old else ' '}] Bandwidth {MEAN:.6f} {'GB/s' if old else 'GiB/s'} : IOPS 10.0 kiops : TOTAL {math.sqrt(MEAN * 10):.6f}"
    )
    return "\n".join(lines)


@pytest.mark.parametrize("old", [False, True])
def test_every_line_as_printed(old):
    run = read_io500_summary(summary(old=old))
    assert [phase.value for phase in run.phases] == [*BANDWIDTH.values(), *METADATA.values()]
    assert run.phases[1].name == ("ior_hard_write" if old else "ior-hard-write")
    assert (run.phases[0].unit, run.phases[0].seconds) == ("GB/s" if old else "GiB/s", 300.5)
    assert (run.bandwidth_gib_s, run.iops_kiops, run.errors) == (pytest.approx(MEAN, abs=1e-6), 10.0, ())


def test_what_does_not_fit_is_an_error():
    assert "ior-easy-write is marked invalid" in read_io500_summary(summary(mark="-invalid")).errors[0]
    without = read_io500_summary(summary().rpartition("\n")[0])
    assert (without.score, without.errors) == (None, ("-: no score: the run did not end",))
    with pytest.raises(InputError, match="no IO500 phase"):
        read_io500_summary("nothing")


def test_a_folder(tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    (results / "result_summary.txt").write_text(summary())
    (results / "ior-hard-write.txt").write_text(IOR)
    (results / "mdtest-easy-write.txt").write_text(
        "mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)\nerror could not create directory '/a'\n"
    )
    heading = "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput"
    ranks = [f"write,{rank},100.0,99.0,{(rank + 1) << 20},1" for rank in range(10)]
    (results / "ior-easy-write.csv").write_text("\n".join([heading, *ranks]))
    (results / "config.ini").write_text("[global]\napi = POSIX\ndrop-caches =\n[ior-easy]\nblockSize = 64g\n")
    (run,) = read_io500(tmp_path)
    data = run.to_dict()
    assert list(data)[:5] == ["score", "bandwidth_gib_s", "iops_kiops", "phases", "errors"]
    assert data["phases"][0] == {"name": "ior-easy-write", "value": 40.0, "unit": "GiB/s", "seconds": 300.5}
    assert data["spreads"] == ["ior-easy-write: 10 tasks, 1.0 to 10.0 MiB/s each, median 5.5"]
    assert data["configuration"] == {"global.api": "POSIX", "ior-easy.blocksize": "64g"}
    # 1.5 MiB/s for 100 s of 470 MB.
    assert data["stonewall"] == [{"phase": "ior-hard-write", "planned_bytes": 470_080_000, "moved_bytes": 157_286_400}]
    assert len(data["errors"]) == 1
    assert "could not create directory" in data["errors"][0]


def test_no_folder_no_run(tmp_path):
    with pytest.raises(InputError, match="there is no such folder"):
        read_io500(tmp_path / "no")
    with pytest.raises(InputError, match=r"neither a result_summary.txt"):
        read_io500(tmp_path)


def test_sizes_are_exact_where_the_command_line_has_them():
    text = IOR.replace("-b 47008 -s 1000", "-b 920g -s 1").replace("47008 bytes\nagg", "920.00 GiB\nagg")
    assert {row.block_bytes for row in read_ior(text)} == {920 << 30}
    # What is printed counts where the two have nothing to do with each other.
    assert {row.block_bytes for row in read_ior(IOR.replace("-b 47008", "-b 4k"))} == {47_008}


@pytest.mark.parametrize(
    "line",
    [
        "ERROR: verifying the data on read (633753120 errors)!",
        "error could not create directory '/scratch/#test-dir.0-0/mdtest_tree.0/'",
        "ior WARNING: fsync() failed, errno 9, Bad file descriptor (aiori-MPIIO.c:457)",
    ],
)
def test_lines_that_say_the_data_are_wrong(line):
    hard, words = error_in(line)
    assert hard
    assert words
    assert {row.status for row in read_ior(f"{IOR}{line}\n")} == {"failed"}


def test_a_partial_read_that_goes_on_is_no_failure():
    """IOR retries the rest; if that fails too, it prints another error."""
    line = "WARNING: Task 37, partial read(), 25165824 of 67108864 bytes at offset 0"
    assert error_in(line) is None
    assert {row.status for row in read_ior(f"{IOR}{line}\n")} == {"ok"}
    end = "ior ERROR: too many retries -- aborting, errno 0, Success (aiori-POSIX.c:300)"
    assert {row.status for row in read_ior(f"{IOR}{line}\n{end}\n")} == {"failed"}


def test_wide_letters_without_a_mark():
    for encoding in ("utf-16-le", "utf-16-be"):
        assert text_of(IOR.encode(encoding)) == IOR
        assert text_of(gzip.compress(IOR.encode(encoding))) == IOR
    assert text_of(b"a\0b") == "a\0b"


def test_a_named_pipe_is_said_and_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="is a named pipe, which may never end"):
        text_of(pipe)
