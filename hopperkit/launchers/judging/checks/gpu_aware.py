"""GPU-aware MPI against options of srun that hide a task's neighbors' GPUs from it.

References
----------
BLAST-WarpX/warpx, issue 6382 (Perlmutter: cuIpcOpenMemHandle fails with --gpus-per-task and one GPU visible per task);
NVIDIA, CUDA C++ Programming Guide, "Interprocess Communication".
"""

import re
from collections.abc import Iterator

from hopperkit.launchers.batch.requested import requested_by_job, requested_by_line
from hopperkit.launchers.judging._edits import change_line
from hopperkit.launchers.judging.remedies import Draft, Remedy
from hopperkit.launchers.options import Given, read_options
from hopperkit.launchers.scripts import Script
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError

# A100, GH200, K20X, with or without the maker's name.
_NVIDIA = re.compile(r"(?:NVIDIA )?(?:GH|GB|[ABHKLPTV])\d")
_HIDING = re.compile(r"(?:verbose,|v,)?(?:single|closest|per_task|map_gpu|mask_gpu)\b", re.IGNORECASE)


def check_gpu_aware(script: Script, machine: Machine) -> Iterator[Draft]:
    r"""Yield the lines whose tasks cannot access each other's GPUs although GPU-aware MPI is on.

    Parameters
    ----------
    script : Script
    machine : Machine
        CUDA interprocess communication exists only on NVIDIA GPUs; for others there is no finding.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> script = read_script("export MPICH_GPU_SUPPORT_ENABLED=1\nsrun -N 1 -n 4 --gpus-per-task=1 ./a")
    >>> [draft.finding.code for draft in check_gpu_aware(script, Machine.load("perlmutter"))]
    ['gpu-aware-hidden']
    """
    if not any(_NVIDIA.match(kind.gpu_model or "") for kind in machine.node_kinds):
        return
    job = requested_by_job(script)
    for line in script.lines:
        tasks = requested_by_line(line).over(job).tasks_of_node
        if line.environment.get("MPICH_GPU_SUPPORT_ENABLED") != "1" or line.launcher != "srun" or tasks == 1:
            continue
        hidden = _hiding_option(script, line.words)
        if hidden:
            what = (
                f"Line {line.line}: {hidden} shows each task one GPU, and MPICH_GPU_SUPPORT_ENABLED=1 lets MPI copy "
                "between GPUs of a node, for which a task must see its neighbor's (CUDA IPC): such jobs failed with "
                "cuIpcOpenMemHandle: invalid argument (WarpX issue 6382)."
            )
            plain = "Let each task see all GPUs of its node, and choose one by its local rank."
            words = "Add --gpu-bind=none to the line, and let the program choose its GPU by SLURM_LOCALID."
            edits = change_line(script, line, {"--gpu-bind": "none"}, "srun")
            finding = Finding("gpu-aware-hidden", what, "advice", {"line": line.line}, plain)
            yield Draft(finding, (Remedy(words, edits),) if edits else ())


def _hiding_option(script: Script, words: object) -> str:
    """Return the option of a line, or of its job, that hides GPUs; empty with --gpu-bind=none."""
    given: dict[str, Given] = {}
    texts = [(directive.words, "sbatch") for directive in script.directives if directive.system == "slurm"]
    for each, program in [*texts, (words, "srun")]:
        try:
            given |= {option.name: option for option in read_options(each, program, where="")[0]}  # type: ignore[arg-type]
        except LaunchError:
            continue
    bind = given.get("--gpu-bind")
    if bind and bind.value.lower().endswith("none"):
        return ""
    if "--gpus-per-task" in given:
        return f"--gpus-per-task={given['--gpus-per-task'].value}"
    return f"--gpu-bind={bind.value}" if bind and _HIDING.match(bind.value) else ""
