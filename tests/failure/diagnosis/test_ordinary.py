"""Messages that successful runs also print are never the cause, unless the end of the run names the same subject."""

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.failure.messages import _templates
from hopperlib.failure.messages._templates import printed_by_successful_runs
from hopperlib.package_data import load_csv_resource

MESSAGES = [row["message"] for row in load_csv_resource(_templates.__file__, "seen_in_good_runs.csv")]
DRIVER = "libibverbs: Warning: couldn't load driver 'libmlx5-rdmav34.so': libmlx5-rdmav34.so: cannot open shared object file: No such file or directory"
# Ends that do not name the subject of the messages.
ENDS = (
    "srun: error: n1: task 0: Exited with exit code 1",
    "Segmentation fault (core dumped)",
    "ERROR: residual is NaN\nMPI_ABORT was invoked on rank 0",
    "step 2",
    "Killed",
)


def every_line(found):
    """All lines that an answer shows."""
    causes = [*found.causes, *filter(None, [found.alternative])]
    return " ".join([*(hit.text for cause in causes for hit in cause.hits), *found.next])


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("message", [*MESSAGES, DRIVER])
def test_an_ordinary_message_is_no_reason(message, end):
    found = diagnose([("job.out", f"step 1\n{message}\n{end}\n")])
    first = found.cause.hits[0].text if found.cause else ""
    assert not printed_by_successful_runs(first.encode())
    assert not found.alternative or not printed_by_successful_runs(found.alternative.hits[0].text.encode())
    assert not any(printed_by_successful_runs(step.encode()) for step in found.next)


@pytest.mark.parametrize(
    "end",
    [
        "ERROR: device mlx5_0 needs 'libmlx5-rdmav34.so'\nMPI_ABORT was invoked on rank 0",
        "RuntimeError: /usr/lib64/libibverbs/libmlx5-rdmav34.so was not loaded",
    ],
)
def test_it_counts_where_the_end_names_the_same(end):
    assert "couldn't load driver" in every_line(diagnose([("job.out", f"{DRIVER}\nstep 1\n{end}\n")]))


def test_it_does_not_count_where_the_end_names_another_thing():
    end = "ERROR: device mlx5_0 needs 'libother-rdmav34.so'\nMPI_ABORT was invoked on rank 0"
    assert "couldn't load driver" not in every_line(diagnose([("job.out", f"{DRIVER}\nstep 1\n{end}\n")]))


def test_columns_are_as_wide_as_the_program_makes_them():
    assert printed_by_successful_runs(b"      machine check exception               = true")
    assert not printed_by_successful_runs(b"      machine check exception               : cpu 3")
