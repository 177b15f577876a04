"""GPUs that a wrapper or a lone task leaves idle, and lines that keep tasks near the GPUs of a known wrapper."""

import pytest

from hopperkit.launchers.gpu_wrappers import gpus_by_wrapper
from hopperkit.launchers.review import review_line
from hopperlib.machine import Machine

AURORA = "#PBS -l select=2\nexport OMP_NUM_THREADS={threads}\nmpiexec -n {total} --ppn {tasks} --depth={depth} --cpu-bind depth {wrapper} ./a\n"


def aurora(tasks: int, depth: int, threads: int, wrapper: str = "gpu_tile_compact.sh"):
    text = AURORA.format(threads=threads, total=2 * tasks, tasks=tasks, depth=depth, wrapper=wrapper)
    return review_line(text, Machine.load("aurora"))


@pytest.mark.parametrize(("tasks", "idle"), [(1, 11), (4, 8), (6, 6), (11, 1), (12, 0), (24, 0)])
def test_tiles_that_the_wrapper_gives_nobody_are_named(tasks: int, idle: int) -> None:
    found = [each.message for each in aurora(tasks, 1, 1).advice if each.code == "gpus-idle"]
    assert [f"{idle} stay idle" in message for message in found] == [True] * bool(idle)


@pytest.mark.parametrize(("tasks", "threads"), [(3, 8), (4, 8), (6, 8), (6, 4), (5, 2)])
def test_no_proposal_parts_tasks_from_the_tiles_of_the_wrapper(tasks: int, threads: int) -> None:
    review = aurora(tasks, 1, threads)
    kind = review.placement.node_kind
    # Ranks 0 to 5 get tiles of the first socket, whatever cores they have.
    assert all(set(kind.cores_near_gpu(tile)) <= set(range(52)) for tile in range(6))
    placements = [review.placement, *([review.better.placement] if review.better else [])]
    for placement in placements:
        for task, seat in enumerate(placement.nodes[0].pattern):
            assert set(seat.cores) & kind.cores_near_gpu(gpus_by_wrapper(["gpu_tile_compact.sh"], tasks, 12)[task][0])


def test_tasks_already_far_from_their_tiles_are_reported() -> None:
    # A width of 17 cores puts tasks 3 to 5 on the second socket.
    codes = [each.code for each in aurora(6, 17, 8).advice]
    assert "gpus-far" in codes


LONE = "#SBATCH -C gpu -N 2 --ntasks-per-node=1 --gpus-per-node=4 -c 128 -q regular\nsrun {}\n"


@pytest.mark.parametrize(
    ("program", "reported"),
    [
        ("./solver in.txt", True),
        ("./lmp -k on g 1 -sf kk -in in.lj", True),
        ("./lmp -k on g 4 -sf kk -in in.lj", False),
        ("./md -gpu_id 0123", False),
        ("./md --gpus=4", False),
        ("python train.py", False),
        ("torchrun --nproc-per-node=4 train.py", False),
    ],
)
def test_a_lone_task_that_sees_several_gpus(program: str, reported: bool) -> None:
    codes = [each.code for each in review_line(LONE.format(program), Machine.load("perlmutter")).advice]
    assert ("gpus-for-one-task" in codes) == reported


def test_no_line_claims_to_cure_what_only_more_tasks_cure() -> None:
    review = review_line(LONE.format("./solver"), Machine.load("perlmutter"))
    assert review.better is None or "gpus-for-one-task" not in review.won


@pytest.mark.parametrize(("tasks", "told"), [(8, False), (16, True), (128, True)])
def test_the_tasks_of_a_gpu_are_counted_where_they_are_many(tasks: int, told: bool) -> None:
    text = f"#SBATCH -C gpu -N 1 -q regular\nsrun -n {tasks} --gpus-per-node=4 ./a\n"
    messages = [each.message for each in review_line(text, Machine.load("perlmutter")).advice]
    assert any(f"{tasks // 4} tasks use one GPU" in message for message in messages) == told
