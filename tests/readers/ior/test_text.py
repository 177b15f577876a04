"""The tables of each version of IOR; inputs without a file are synthetic, written in the layout of the version."""

from pathlib import Path

import pytest

from hopperkit.readers.ior.reader import read_ior

V3_0 = """\
IOR-3.0.1: MPI Coordinated Test of Parallel I/O

Began: Fri Mar 22 12:41:45 2019
Command line used: /apps/ior -vv -Z -b 200m -t 20m -a POSIX -w -k -o /scratch/x
Machine: Linux n1
Using synchronized MPI timer

Test 0 started: Fri Mar 22 12:41:45 2019
Participating tasks: 16
task 0 on n1
Summary:
        api                = POSIX
        test filename      = /scratch/x
        access             = single-shared-file
        pattern            = segmented (1 segment)
        ordering in a file = sequential offsets
        ordering inter file= random task offsets >= 1, seed=0
        clients            = 16 (8 per node)
        repetitions        = 1
        xfersize           = 20 MiB
        blocksize          = 200 MiB
        aggregate filesize = 3.12 GiB

access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ---------- ---------  --------   --------   --------   --------   ----
Commencing write performance test: Fri Mar 22 12:41:45 2019
write     158.39     204800     20480      0.003322   1.47       20.06      20.20      0

Max Write: 158.39 MiB/sec (166.09 MB/sec)

Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev    Mean(s) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt blksiz xsize aggsize API RefNum
write         158.39     158.39     158.39       0.00   20.20281 0 16 8 1 0 0 1 1 0 1 209715200 20971520 3355443200 POSIX 0

Finished: Fri Mar 22 12:42:05 2019
"""

OLD = "access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter"
NEW = (
    "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter"
)
OLD_ROW = "write     3475.49    1024.00    256.00     0.000030   0.000253   0.000005   0.000288   0"
NEW_ROW = (
    "write     3475.49    13901.97   0.000050    1024.00    256.00     0.000030   0.000253   0.000005   0.000288   0"
)
STONEWALL = "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum"
STONEWALL_ROW = "write        3475.49    3475.49    3475.49       0.00   13901.97   13901.97   13901.97       0.00    0.00029         NA            NA     0      1   1    1   0     0        1         0    0      1  1048576   262144       1.0 POSIX      0"
NO_STONEWALL = STONEWALL.replace(" Stonewall(s) Stonewall(MiB)", "")
NO_STONEWALL_ROW = STONEWALL_ROW.replace("         NA            NA", "")


def v3_3(heading, row, summary=""):
    return f"""\
IOR-3.3.0+dev: MPI Coordinated Test of Parallel I/O
Began               : Wed Jun 22 23:56:26 2022
Command line        : ior -w
Options:
api                 : MPIIO
apiVersion          : (3.1)
access              : single-shared-file
type                : independent
segments            : 1
nodes               : 1
tasks               : 1
clients per node    : 1
repetitions         : 1
xfersize            : 262144 bytes
blocksize           : 1 MiB
aggregate filesize  : 1 MiB

Results:

{heading}
{row}
remove    -          -          -          -          -          -          0.000080   0
{summary}
Finished            : Wed Jun 22 23:56:27 2022
"""


def test_version_3_0():
    (row,) = read_ior(V3_0, file="a")
    assert (row.version, row.api, row.access, row.type) == ("IOR-3.0.1", "POSIX", "write", "shared")
    # 16 tasks, 8 per node: 2 nodes.
    assert (row.tasks, row.tasks_per_node, row.nodes, row.segments) == (16, 8, 2, 1)
    assert (row.rate_mib_s, row.seconds, row.repetition, row.status) == (158.39, 20.20, 0, "ok")
    assert (row.block_bytes, row.transfer_bytes) == (200 * 2**20, 20 * 2**20)


@pytest.mark.parametrize("heading_row", [(OLD, OLD_ROW), (NEW, NEW_ROW)])
@pytest.mark.parametrize("summary", ["", f"{STONEWALL}\n{STONEWALL_ROW}", f"{NO_STONEWALL}\n{NO_STONEWALL_ROW}"])
def test_headings_of_3_3(heading_row, summary):
    (row,) = read_ior(v3_3(*heading_row, summary), file="a")
    assert (row.rate_mib_s, row.seconds, row.api, row.status) == (3475.49, 0.000288, "MPIIO", "ok")


@pytest.mark.parametrize(("heading", "row"), [(STONEWALL, STONEWALL_ROW), (NO_STONEWALL, NO_STONEWALL_ROW)])
def test_summary_alone(heading, row):
    """A log that begins in the middle: the request is in the summary too."""
    (one,) = read_ior(f"Summary of all tests:\n{heading}\n{row}\n", file="a")
    assert (one.rate_mib_s, one.tasks, one.nodes, one.segments, one.api) == (3475.49, 1, 1, 1, "POSIX")
    assert (one.block_bytes, one.transfer_bytes, one.repetition, one.statistic) == (2**20, 2**18, 0, None)
    assert one.type == "shared"


def test_maximum_alone():
    (row,) = read_ior("Max Write: 1299.23 MiB/sec (1362.35 MB/sec)\n", file="a")
    assert (row.rate_mib_s, row.statistic, row.access) == (1299.23, "max", "write")


@pytest.mark.parametrize(("heading", "row"), [(OLD, OLD_ROW), (NEW, NEW_ROW)])
def test_row_whose_heading_is_lost(heading, row):
    text = v3_3(heading, row).replace(heading, "")
    assert read_ior(text, file="a")[0].rate_mib_s == 3475.49


def test_units_of_the_heading():
    text = v3_3(NEW.replace("MiB/s", "MB/s"), NEW_ROW)
    assert read_ior(text, file="a")[0].rate_mb_s == pytest.approx(3475.49)


def test_decimals_lost():
    """From 10,000 on IOR prints no decimals; the number is what it is."""
    text = v3_3(NEW, NEW_ROW.replace("3475.49 ", "12522   "))
    assert read_ior(text, file="a")[0].rate_mib_s == 12522


@pytest.mark.parametrize(
    "noise",
    [
        "WARNING: There was an error initializing an OpenFabrics device.\n",
        "[n1:123] 15 more processes have sent help message\n",
        "read error: Connection reset, 12 attempts\n",
        "write 5 pages back\n",
        "access denied\n",
        "key : value = other\n",
    ],
)
def test_noise_between_the_lines(noise):
    lines = V3_0.splitlines(keepends=True)
    (row,) = read_ior(noise.join(lines), file="a")
    assert (row.rate_mib_s, row.tasks, row.status) == (158.39, 16, "ok")


def test_hundreds_of_kilobytes_of_noise_first():
    noise = "MPI startup(): Warning: I_MPI_PMI_LIBRARY will be ignored\n" * 8_000
    (row,) = read_ior(noise + V3_0, file="a")
    assert row.rate_mib_s == 158.39


@pytest.mark.parametrize("label", ["0: ", "  3: ", "[1,0]<stdout>:", "> ", "# "])
def test_labels_in_front_of_lines(label):
    text = "".join(label + line for line in V3_0.splitlines(keepends=True))
    (row,) = read_ior(text, file="a")
    assert (row.rate_mib_s, row.tasks, row.type) == (158.39, 16, "shared")


def test_tabs_and_single_spaces():
    text = "\n".join("\t" + " ".join(line.split()) for line in v3_3(NEW, NEW_ROW).splitlines())
    (row,) = read_ior(text, file="a")
    assert (row.rate_mib_s, row.transfer_bytes) == (3475.49, 2**18)


def test_torn_row_keeps_its_rate():
    text = v3_3(NEW, "write     3475.49    13901.97   0.000050    WARNING: something 12")
    (row,) = read_ior(text, file="a")
    assert (row.rate_mib_s, row.seconds, row.status) == (3475.49, None, "ok")


def test_row_behind_noise_on_one_line():
    text = v3_3(NEW, "[n3] WARNING: late  " + NEW_ROW)
    assert read_ior(text, file="a")[0].rate_mib_s == 3475.49


@pytest.mark.parametrize("printed", ["0.00   ", "nan    ", "inf    ", "-      ", "-nan   "])
def test_no_rate_is_no_zero(printed):
    rows = read_ior(v3_3(NEW, NEW_ROW.replace("3475.49", printed)), file="a")
    assert [row.rate_mib_s for row in rows] == [None]
    assert rows[0].status == "incomplete"


def test_fewer_repetitions_than_asked_for():
    text = v3_3(NEW, NEW_ROW).replace("repetitions         : 1", "repetitions         : 3")
    (row,) = read_ior(text, file="a")
    assert (row.status, row.reason) == ("incomplete", "1 of 3 write repetitions")
    assert row.rate_mib_s == 3475.49


def test_access_that_was_asked_for_and_is_not_there():
    (row,) = read_ior(v3_3(NEW, NEW_ROW).replace("ior -w", "ior -w -r"), file="a")
    assert (row.status, row.reason) == ("incomplete", "no read result, although the command line requests one")


def test_output_that_ends_before_the_table():
    text = v3_3(NEW, NEW_ROW).partition("Results")[0]
    (row,) = read_ior(text, file="a")
    assert (row.status, row.rate_mib_s, row.tasks) == ("incomplete", None, 1)


def test_error_of_version_4():
    text = v3_3(NEW, "").partition("remove")[0] + (
        'ior ERROR: open64("/x", 66, 0664) failed, errno 28, No space left on device (aiori-POSIX.c:412)\n'
        "application called MPI_Abort(MPI_COMM_WORLD, -1) - process 0\n"
    )
    (row,) = read_ior(text, file="a")
    assert row.status == "failed"
    assert "No space left on device" in row.reason


def test_rows_before_the_error_keep_their_rate_and_say_failed():
    (row,) = read_ior(v3_3(NEW, NEW_ROW).replace("Finished", "** error **\nFinished"), file="a")
    assert (row.status, row.rate_mib_s) == ("failed", 3475.49)


def test_killed_by_the_batch_system():
    text = v3_3(NEW, "").partition("remove")[0] + "slurmstepd: error: *** JOB 1 ON n1 CANCELLED DUE TO TIME LIMIT ***\n"
    (row,) = read_ior(text, file="a")
    assert row.status == "failed"
    assert "TIME LIMIT" in row.reason


def test_two_runs_in_one_file():
    first, second = read_ior(V3_0 + v3_3(NEW, NEW_ROW), file="a")
    assert (first.version, second.version) == ("IOR-3.0.1", "IOR-3.3.0+dev")
    assert (first.tasks, second.tasks) == (16, 1)


def test_two_tests_of_one_run():
    """A script runs several tests; each has its options, and one summary ends them."""
    options = "api : POSIX\naccess : {}\ntasks : 2\nrepetitions : 1\nblocksize : 1 MiB\nxfersize : 256 KiB\n"
    text = (
        "IOR-3.2.1: MPI Coordinated Test of Parallel I/O\nCommand line : ior -f x\n"
        + options.format("single-shared-file") + OLD + "\n" + OLD_ROW + "\n"
        + options.format("file-per-process") + OLD + "\n" + OLD_ROW.replace("3475.49", "4000.00") + "\n"
    )  # fmt: skip
    rows = read_ior(text, file="a")
    assert [(row.type, row.rate_mib_s) for row in rows] == [("shared", 3475.49), ("file per process", 4000.0)]


def test_verbose_rows_of_2_10():
    text = (
        "IOR-2.10.3: MPI Coordinated Test of Parallel I/O\nSummary:\n\tapi = POSIX\n\tclients = 4 (2 per node)\n"
        f"\trepetitions = 1\n{OLD}\n{OLD_ROW} XXCEL\n"
    )
    (row,) = read_ior(text, file="a")
    assert (row.rate_mib_s, row.repetition, row.nodes) == (3475.49, 0, 2)


def test_bytes_that_ior_counted_itself_are_those_of_the_next_result():
    lines = (
        (Path(__file__).parents[3] / "data" / "samples" / "ior" / "ior-4.0.0.posix-fpp.txt").read_text().splitlines()
    )
    first = next(place for place, line in enumerate(lines) if line.startswith("read "))
    lines.insert(first, "WARNING: Using actual aggregate bytes moved  = 33554431")
    moved = [(row.access, row.repetition, row.moved_bytes) for row in read_ior("\n".join(lines), file="a")]
    assert moved[1] == ("read", 0, 33_554_431)
    assert [each for _, _, each in moved if each] == [33_554_431]
