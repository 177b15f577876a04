"""The line of the first task that a launcher reports as failed."""

import io

import pytest

from hopperlib.failure.messages.scanner import Scanner

REPORT = "srun: error: nid00012: task 3: Segmentation fault\n"


@pytest.mark.parametrize(("before", "line"), [("", 1), ("\n", 2), ("\n\nstep 1\n", 4), ("step 1\n", 2)])
def test_blank_lines_before_the_report_count(before, line):
    scanner = Scanner()
    scanner.read("job.out", io.BytesIO((before + REPORT).encode()))
    (ends,) = scanner.evidence.ends.values()
    assert (ends.first, ends.line, ends.nodes) == ((3, "nid00012"), line, {"nid00012"})
