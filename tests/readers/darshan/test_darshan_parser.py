"""Output of darshan-parser for a log is read like the log. The texts are composed, in the form that the program prints."""

import gzip
import json

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper
from hopperkit.iologs.darshan_findings import findings
from hopperkit.readers.darshan import read_darshan, read_darshan_text
from hopperlib.errors import InputError

HEAD = """# darshan log version: 3.41
# compression method: ZLIB
# exe: /home/u/a.out --secret x
# uid: 1001
# jobid: 77
# nprocs: 24
# run time: 40.5000

# mounted file systems (mount point and fs type)
# mount entry:	/scratch	lustre
# mount entry:	/	ext4

#<module>	<rank>	<record id>	<counter>	<value>	<file name>	<mount pt>	<fs type>
"""


def lines(number, ost, seconds, layout):
    """The lines of one file of one task: 10**9 bytes in 100 calls of 10 MB, on one OST."""
    path = f"/scratch/out {number}"
    counters = {
        "POSIX": {
            "POSIX_OPENS": 1,
            "POSIX_WRITES": 100,
            "POSIX_BYTES_WRITTEN": 10**9,
            "POSIX_SIZE_WRITE_4M_10M": 100,
            "POSIX_MODE": 436,
            "POSIX_F_WRITE_TIME": f"{seconds:.6f}",
        },
        "LUSTRE": {
            "LUSTRE_NUM_COMPONENTS": 1,
            "LUSTRE_COMP1_STRIPE_SIZE": 1 << 20,
            "LUSTRE_COMP1_STRIPE_COUNT": 1,
            "LUSTRE_COMP1_STRIPE_PATTERN": "raid0",
            "LUSTRE_COMP1_OST_ID_0": ost,
        },
    }
    if layout == "one":
        counters["LUSTRE"] = {
            "LUSTRE_OSTS": 48, "LUSTRE_STRIPE_SIZE": 1 << 20, "LUSTRE_STRIPE_WIDTH": 1, "LUSTRE_OST_ID_0": ost
        }  # fmt: skip
    return "".join(
        f"{module}\t{number}\t{9 * 10**18 + number}\t{name}\t{value}\t{path}\t/scratch\tlustre\n"
        for module, named in counters.items()
        for name, value in named.items()
    )


def text(layout="components"):
    return HEAD + "".join(lines(n, n, 400.0 if n == 14 else 10.0, layout) for n in range(24))


@pytest.mark.parametrize(("layout", "osts"), [("components", None), ("one", 48)])
def test_the_slow_ost_of_the_text(tmp_path, layout, osts):
    path = tmp_path / "parsed.txt"
    path.write_text(text(layout), encoding="utf-8")
    log = read_darshan(path)
    assert (log.executable, log.job_id, log.tasks, log.run_time_s, log.osts) == ("/home/u/a.out", 77, 24, 40.5, osts)
    assert log.modules == ("POSIX", "LUSTRE")
    assert log.mounts == (("/scratch", "lustre"), ("/", "ext4"))
    assert log.totals["POSIX"] == {
        "files": 24, "bytes_read": 0, "bytes_written": 24 * 10**9, "reads": 0, "writes": 2400, "opens": 24
    }  # fmt: skip
    assert log.files[14].path == "/scratch/out 14"
    assert log.files[14].layout.osts == (14,)
    # 10**9 bytes in 400 s beside 10 s: 40 times.
    slow = next(finding for finding in findings(log) if finding.code == "slow-ost")
    assert (slow.evidence["ost"], slow.evidence["factor"]) == (14, 40.0)


def test_packed_text_and_standard_input(tmp_path):
    packed = tmp_path / "parsed.txt.gz"
    packed.write_bytes(gzip.compress(text().encode()))
    assert len(read_darshan(packed).files) == 24
    result = CliRunner().invoke(hopper, ["io", "darshan", "-", "--json"], input=text())
    # One file on each OST is no reason to blame the slowest.
    assert result.exit_code == 0
    assert json.loads(result.stdout)["findings"][0]["code"] == "slow-ost"


def read(tmp_path, content):
    path = tmp_path / "parsed.txt"
    path.write_text(content, encoding="utf-8")
    return read_darshan(path)


def test_what_is_lost_or_not_used_is_said(tmp_path):
    warning = "\n# *WARNING*: The POSIX module contains incomplete data!\n"
    # A line with words where numbers stand is no counter.
    other = "APMPI\t0\t77\tMPI_X\t1\tz\t/\text4\nPOSIX\tx\ty\tPOSIX_WRITES\t1\tz\t/\text4\n\n"
    log = read(tmp_path, text() + warning + other)
    assert log.missing == ("module POSIX ran out of memory while the job ran: part of it is missing",)
    assert log.notes[0] == "in the text and not used here: APMPI"
    assert log.totals["POSIX"]["writes"] == 2400


@pytest.mark.parametrize("kept", [0.5, 0.9, 0.97, 0.999])
def test_text_that_breaks_off_is_never_whole(tmp_path, kept):
    """Regions of the log are named at its top: a module without a line, or a short last record, is reported."""
    regions = "".join(f"# {name} module: 186 bytes (compressed), ver=4\n" for name in ("POSIX", "LUSTRE", "DXT_POSIX"))
    body = text().removeprefix(HEAD).splitlines(keepends=True)
    whole = HEAD + regions + "".join(sorted(body, key=lambda line: line.startswith("LUSTRE")))
    assert read(tmp_path, whole).missing == ()
    assert "DXT_POSIX" in read(tmp_path, whole).notes[0]
    assert read(tmp_path, whole[: int(kept * len(whole))]).missing


@pytest.mark.parametrize("words", ["# A title\n\nwords\n", "# "])
def test_other_text_is_refused(tmp_path, words):
    path = tmp_path / "notes.md"
    path.write_text(words, encoding="utf-8")
    with pytest.raises(InputError, match="neither a job nor a counter from darshan-parser"):
        read_darshan(path)


def daos(module, *counters):
    return "".join(
        f"{module}\t0\t7\t{module}_{name}\t{value}\tpool:object\tUNKNOWN\tUNKNOWN\n" for name, value in counters
    )


def test_objects_of_daos_are_read_and_count_once_beside_its_files():
    objects = daos(
        "DAOS", ("OBJ_OPENS", 1), ("OBJ_FETCHES", 2), ("ARRAY_READS", 3), ("KV_GETS", 4), ("BYTES_READ", 900)
    )
    log = read_darshan_text(f"# nprocs: 4\n{objects}")
    (file,) = log.files
    assert (file.interface, file.opens, file.reads, file.bytes_read) == ("DAOS", 1, 9, 900)
    files = daos("DFS", ("READS", 1), ("BYTES_READ", 900))
    both = read_darshan_text(f"# nprocs: 4\n{files}{objects}")
    assert [(file.interface, file.bytes_read) for file in both.files] == [("DFS", 900)]
    assert both.totals["DAOS"]["bytes_read"] == 900
