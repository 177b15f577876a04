"""The kind of a text, by its marks, the likeliest first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.readers.recognise import not_text, recognise

SACCT = "JobID|User|State|Submit|Start|End|NNodes\n1|ann|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:10:00|2026-01-01T01:00:00|4\n"
SWF = "1 0 10 100 4 -1 -1 4 200 -1 1 3 -1 -1 1 -1 -1 -1\n"
KINDS = [
    ("srun -N 2 -n 8 ./a.out", "script"),
    ("$ OMP_NUM_THREADS=4 aprun -n 24 -d 4 ./a.out", "script"),
    ("#!/bin/bash\n\n# nightly\n#PBS -l mppwidth=24\ncd $PBS_O_WORKDIR\n", "script"),
    ("#!/bin/sh\nmpirun -np 4 ./a.out\n", "script"),
    ("#SBATCH -N 2\nsrun ./a.out\n", "script"),
    ("srun -n 4 ./a.out\nsrun: error: node1: task 2: Killed\n", "output"),
    ("step 1\n#SBATCH -N 2\nslurmstepd: error: *** JOB 1 CANCELLED ***\n", "output"),
    ("Traceback (most recent call last):\nMemoryError\n", "output"),
    (SACCT, "trace"),
    (SACCT.replace("|", ","), "trace"),
    ("JobID|Elapsed|MaxRSS\n1|00:10:00|\n", "trace"),
    ("JobID    JobName  Elapsed      State\n----- -------- -------- ----------\n1  a  01:02:03  COMPLETED\n", "trace"),
    ('{"jobs": [{"job_id": 1}]}', "trace"),
    ("mpirun noticed that process rank 3 exited on signal 9 (Killed).\n", "output"),
    ("; Computer: IBM SP2\n" + SWF, "trace"),
    (SWF * 3, "trace"),
    ("IOR-3.3.0: MPI Coordinated Test of Parallel I/O\n", "io"),
    ("mdtest-3.4.0 was launched with 8 total task(s) on 2 node(s)\n", "io"),
    ("[RESULT]       ior-easy-write        2.1 GiB/s : time 300.1 seconds\n", "io"),
    ("# darshan log version: 3.41\n# exe: ./a\n", "io"),
    (
        "UUID                   1K-blocks        Used   Available Use% Mounted on\nfs-OST0000_UUID 1 1 1 50% /fs[OST:0]\n",
        "lustre",
    ),
    ("date,value\n2026-01-01,100\n2026-01-02,101\n", "history"),
    ("run_time_s\n10.5\n11\n12\n", "times"),
    ("hello\n10.5\n11\n12\n", "output"),
    ("job,run_time_s\na,10.5\na,11\n", "times"),
    ("10.5\n11\n12.25\n", "times"),
    ("elapsed\n00:10:00\n00:11:00\n", "times"),
    ('"date","value"\n"2026-01-01","100"\n', "history"),
    ("Machine (128GB total)\n  Package L#0\n", "hardware"),
    ("   NodeName=n1 Arch=x86_64 CoresPerSocket=10\n", "hardware"),
    ("stripe_count:  1 stripe_size:   1048576\n", "lustre"),
    ("module list\nCurrently Loaded Modulefiles:\n 1) cce/15.0.0\n", "build"),
    ("access    bw(MiB/s)  IOPS\n------    ---------  ----\nwrite     2427.54    2430\n", "io"),
    ("Architecture:        x86_64\nCPU(s):              24\n", "hardware"),
    ("NodeName=nid[1-4] CoresPerSocket=6 Sockets=4\n", "hardware"),
    ('name = "mine"\n[[node]]\nname = "compute"\n', "machine"),
    ("Node 0, zone   Normal   1 2 3 4 5 6 7 8 9 10 11\n", "buddyinfo"),
    ("Currently Loaded Modulefiles:\n  1) modules/3.2\n  2) PrgEnv-gnu/4.0\n", "build"),
    ("ftn -o a.out main.f90 -lsci\n", "build"),
    ("[ann@login1 run]$ srun -n 4 ./a.out", "script"),
    ("root@node3:~# LANG=C numactl --hardware\nnode 0 cpus: 0 1 2 3\n", "hardware"),
    ("[daint][ann@n7 /]$ module list\n\nCurrently Loaded Modules:\n  1) xpmem/2.9.6\n", "build"),
    ("$ sacct -X -o jobid,submit\n       JobID              Submit\n------------ --\n", "trace"),
    ("job_id nodes runtime_s\n12 8 301.2\n13 8 420.9\n", "times"),
    ("ftn -o a.out main.f90\nmain.f90:(.text+0x1): undefined reference to `foo_'\nld: error\n", "output"),
]


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_a_text_is_told_by_its_marks(text, kind):
    assert recognise(text)[0].name == kind


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_line_ends_and_empty_lines_change_nothing(text, kind):
    assert recognise("\ufeff\n\n" + text.replace("\n", "\r\n"))[0].name == kind


def test_a_text_without_a_line_is_nothing():
    assert recognise(" \n\t\n") == ()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a picture (PNG)"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0", "a program (ELF)"),
        (b"3.41\0\0\0\0", "a Darshan log itself (hopper io reads it; for a page print it with darshan-parser)"),
        (bytes(range(256)), "a binary file"),
        ("Größe: 12 µs\n\x1b[31mError\x1b[0m\n".encode(), ""),
    ],
)
def test_what_is_no_text_is_named(data, what):
    assert not_text(data.decode("utf-8", "replace")) == what


@given(st.text(max_size=300))
def test_any_text_with_a_line_may_be_the_output_of_a_job(text):
    kinds = recognise(text)
    assert bool(kinds) == bool(text.lstrip("\ufeff").strip())
    assert not kinds or kinds[-1].name == "output"


def test_a_quoted_cell_may_hold_what_parts_them():
    """Node lists with commas are quoted in a table of run times; the cells of each row are two."""
    kinds = recognise('run_time_s,nodes\n412,"nid[000011-000012,000019]"\n535,"nid[000031,000037]"\n')
    assert kinds[0].name == "times"
    # A quotation mark that is never closed ends with its line.
    assert recognise('run_time_s,note\n412,"a\n535,b\n')[0].name == "times"
