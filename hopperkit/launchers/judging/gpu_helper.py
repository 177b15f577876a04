"""GPU binding for launchers that do not provide it: the helper script that does.

PALS' mpiexec, Open MPI and Hydra (MPICH, Intel MPI) leave the choice of a GPU to a small script before the program. It
sets the driver's variable for visible devices to one GPU, by the task's number on its node.

References
----------
ALCF user guides, Polaris and Aurora, "GPU affinity" (helper scripts; PALS_LOCAL_RANKID); Open MPI 5, mpirun man page
(OMPI_COMM_WORLD_LOCAL_RANK); Intel MPI Library, developer reference (MPI_LOCALRANKID).
"""

from collections import Counter
from collections.abc import Sequence

from hopperlib.machine import NodeKind
from hopperlib.placement.binding import Binding
from hopperlib.placement.components import LauncherKind

# Variable for visible devices, by the beginning of a GPU model's name.
_VARIABLES = {"MI": "ROCR_VISIBLE_DEVICES", "Max": "ZE_AFFINITY_MASK"}
_LOCAL_TASK: dict[str, str] = {"pals": "PALS_LOCAL_RANKID", "openmpi": "OMPI_COMM_WORLD_LOCAL_RANK"}


def helper_script(kind: NodeKind, launcher: LauncherKind, pattern: Sequence[Binding]) -> str:
    """Return a script that gives each task of a node a GPU near its cores.

    Parameters
    ----------
    kind : NodeKind
    launcher : str
    pattern : sequence of Binding
        Where the tasks of a node run.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.placement.binding import bound_to
    >>> polaris = Machine.load("polaris").node()
    >>> print(helper_script(polaris, "pals", [bound_to(range(first, first + 8), polaris) for first in (0, 8, 16, 24)]))
    #!/bin/bash
    gpus=(3 2 1 0)
    export CUDA_VISIBLE_DEVICES=${gpus[$PALS_LOCAL_RANKID % 4]}
    exec "$@"
    """
    model = kind.gpu_model or ""
    variable = next((name for begin, name in _VARIABLES.items() if model.startswith(begin)), "CUDA_VISIBLE_DEVICES")
    users: Counter[int] = Counter()
    most, chosen = -(-len(pattern) // kind.gpus), []
    for seat in pattern:
        free = [gpu for gpu in range(kind.gpus) if users[gpu] < most]
        near = [gpu for gpu in free if seat.bound and kind.cores_near_gpu(gpu) & set(seat.cores)]
        chosen.append(min(near or free, key=users.__getitem__))
        users[chosen[-1]] += 1
    names = kind.gpu_numbering or tuple(map(str, range(kind.gpus)))
    listed = " ".join(names[gpu] for gpu in chosen)
    local = _LOCAL_TASK.get(launcher, "MPI_LOCALRANKID")
    return f'#!/bin/bash\ngpus=({listed})\nexport {variable}=${{gpus[${local} % {len(chosen)}]}}\nexec "$@"'
