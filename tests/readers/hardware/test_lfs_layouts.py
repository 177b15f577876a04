"""Progressive layouts and pools as lfs prints them, and their use."""

from __future__ import annotations

from hopperkit.questions.storage.stripe import QUESTION
from hopperkit.readers.hardware.lfs import read_lfs

DF = "\n".join(
    f"work-OST{number:04x}_UUID 1000000000 500000000 500000000 50% /work[OST:{number}]" for number in range(40)
)
PROGRESSIVE = """/scratch/run
  lcm_layout_gen:    0
  lcm_mirror_count:  1
  lcm_entry_count:   3
    lcme_id:             N/A
    lcme_flags:          0
    lcme_extent.e_start: 0
    lcme_extent.e_end:   262144
      stripe_count:  0       stripe_size:   262144       pattern:       mdt       stripe_offset: -1

    lcme_flags:          0
    lcme_extent.e_start: 262144
    lcme_extent.e_end:   8388608
      stripe_count:  1       stripe_size:   1048576       pattern:       raid0       stripe_offset: -1       pool:    flash

    lcme_flags:          0
    lcme_extent.e_start: 8388608
    lcme_extent.e_end:   EOF
      stripe_count:  2       stripe_size:   1048576       pattern:       raid0       stripe_offset: -1       pool:    disk
"""
YAML = """lcm_layout_gen:    0
lcm_entry_count:   2
component0:
  lcme_flags:          0
  lcme_extent.e_start: 0
  lcme_extent.e_end:   1073741824
  sub_layout:
    lmm_stripe_count:  1
    lmm_stripe_size:   1048576
    lmm_pattern:       raid0
component1:
  lcme_extent.e_start: 1073741824
  lcme_extent.e_end:   EOF
  sub_layout:
    lmm_stripe_count:  -1
    lmm_stripe_size:   4194304
    lmm_pool:          flash
"""


def test_both_forms_are_read():
    assert [part.options for part in read_lfs(PROGRESSIVE).components] == [
        "-E 256k -L mdt",
        "-E 8M -c 1 -S 1M -p flash",
        "-E -1 -c 2 -S 1M -p disk",
    ]
    assert [part.options for part in read_lfs(YAML).components] == ["-E 1G -c 1 -S 1M", "-E -1 -c -1 -S 4M -p flash"]
    # Of two folders the last one counts.
    (plain,) = read_lfs("stripe_count: 4 stripe_size: 1048576\n\nstripe_count: 2 stripe_size: 65536").components
    assert plain.plain_options == "-c 2 -S 64k"


def test_what_a_component_grows_into_is_a_part_of_it():
    grown = PROGRESSIVE.replace(
        "    lcme_flags:          0\n    lcme_extent.e_start: 8388608\n    lcme_extent.e_end:   EOF",
        "    lcme_flags:          extension\n    lcme_extent.e_start: 8388608\n    lcme_extent.e_end:   134217728\n"
        "      stripe_count:  0       extension_size: 67108864\n\n"
        "    lcme_flags:          0\n    lcme_extent.e_start: 134217728\n    lcme_extent.e_end:   EOF",
    )
    assert [part.end_bytes for part in read_lfs(grown).components] == [1 << 18, 1 << 27, None]


def test_a_better_layout_keeps_the_form_and_a_good_one_stays():
    case = {"machine": "polaris", "stripe_count": 0, "lfs": f"{DF}\n{PROGRESSIVE}", "directory": "run"}
    wide = QUESTION.run(size_gb=5000.0, writers=4096, nodes=128, **case).facts
    first, *_, last = wide["commands"][0].removeprefix("lfs setstripe ").split(" -E ")
    assert (first, last.split()[0], last.split()[-2:]) == ("-E 256k -L mdt", "-1", ["disk", "run"])
    assert not wide["keeps_default"]
    # A task that writes 4 MB has all of it in the first two components.
    small = QUESTION.run(size_gb=0.004, writers=1, pattern="one-writer", **case)
    assert small.facts["keeps_default"]
    assert small.summary.startswith("Recommended: keep the default for new files, lfs setstripe -E 256k -L mdt -E 8M")


def test_a_pool_has_its_own_osts():
    listed = "Pool: work.flash\n" + "\n".join(f"work-OST{number:04x}_UUID" for number in range(8))
    case = {"machine": "polaris", "stripe_count": 0, "lfs": f"{DF}\n{listed}", "pool": "flash"}
    facts = QUESTION.run(size_gb=5000.0, writers=4096, nodes=128, **case).facts
    assert facts["file_system"]["osts"] == 8
    assert "-p flash" in facts["commands"][0]


def test_hints_speak_the_mpi_that_is_there():
    case = {"size_gb": 1000.0, "writers": 1024, "nodes": 16, "stripe_count": 0, "machine": "polaris"}
    lines = {mpi: QUESTION.run(mpi=mpi, **case).facts["hints_line"] for mpi in ("machine", "romio", "ompio")}
    assert "MPICH_MPIIO_HINTS" in lines["machine"]
    assert "ROMIO_HINTS" in lines["romio"]
    assert "OMPI_MCA_fs_lustre_stripe_width=" in lines["ompio"]
    assert "romio" not in lines["ompio"]


def test_other_storage_says_its_sites_words():
    daos = QUESTION.run(machine="aurora", file_system="daos", pattern="file-per-process")
    assert daos.summary.startswith("daos of Aurora is DAOS, 30,000 GB/s at its peak.")
    assert "EC_16P3G32" in daos.copyables[0].text
    assert "EC_16P3GX" in QUESTION.run(machine="aurora", kind="daos").copyables[0].text


def test_a_measured_time_and_runs_from_there():
    summary = "[RESULT]       ior-easy-write      100.0 GiB/s : time 300.5 seconds\n[RESULT]    mdtest-hard-write       50.0 kIOPS : time 300.5 seconds"
    case = {
        "machine": "polaris",
        "size_gb": 2000.0,
        "writers": 4096,
        "nodes": 64,
        "pattern": "shared",
        "stripe_count": 0,
    }
    now = QUESTION.run(now="20 min", **case)
    assert now.facts["now"]["verdict"] == "expected"
    best = now.facts["now"]["changes"][0]
    assert 0 < best["low_s"] <= best["high_s"] <= 1200
    assert QUESTION.run(now="40h", **case).facts["now"]["verdict"] == "slower"
    assert QUESTION.run(now="1s", **case).facts["now"]["verdict"] == "faster"
    fitted = QUESTION.run(measured=summary, **case)
    assert any(finding.code == "fitted" for finding in fitted.findings)
    assert fitted.facts["expected_high_s"] > fitted.facts["expected_low_s"]
