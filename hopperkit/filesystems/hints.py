"""Hints for MPI-IO in the syntax of the MPI library: Cray's, any other with ROMIO (MPICH, Intel MPI), Open MPI's OMPIO.

ROMIO reads the file named by ``ROMIO_HINTS``; Cray MPICH takes the same hints from a variable, for files whose names
match [1]_. Open MPI's OMPIO has parameters instead: the number of aggregators, the bytes each collects, and Lustre's
stripes [2]_.

References
----------
.. [1] HPE, intro_mpi man page of Cray MPICH, MPICH_MPIIO_HINTS; ROMIO user's guide, Hints.
.. [2] Open MPI documentation, Open MPI IO (OMPIO), and ``ompi_info --param fs lustre``.
"""

from collections.abc import Mapping

from hopperlib.errors import refusal
from hopperlib.machine import Machine

MPIS = ("cray", "romio", "ompio")
# OMPIO's names of the hints that it has; it always collects the data of collective calls.
_OMPIO = {
    "cb_nodes": "OMPI_MCA_io_ompio_num_aggregators",
    "cb_buffer_size": "OMPI_MCA_io_ompio_bytes_per_agg",
    "striping_factor": "OMPI_MCA_fs_lustre_stripe_width",
    "striping_unit": "OMPI_MCA_fs_lustre_stripe_size",
}


# How the names of Intel's GPUs begin.
_INTEL_GPUS = "Max "


def mpi_of(machine: Machine) -> str:
    """Return the MPI library of a machine: Cray's on a Cray with its launchers, otherwise by its launchers.

    A Cray with Intel's GPUs runs an MPICH of its site, which reads ROMIO's hints.

    Parameters
    ----------
    machine : Machine
        Machine with launchers.

    Examples
    --------
    >>> mpi_of(Machine.load("frontier")), mpi_of(Machine.load("cluster")), mpi_of(Machine.load("aurora"))
    ('cray', 'romio', 'romio')
    """
    kinds = {launcher.kind for launcher in machine.launchers if not launcher.assumed}
    if any((kind.gpu_model or "").startswith(_INTEL_GPUS) for kind in machine.node_kinds):
        return "romio"
    if "cray" in machine.model.lower() or kinds & {"aprun", "pals"}:
        return "cray"
    return "ompio" if kinds == {"openmpi"} else "romio"


def hints_line(hints: Mapping[str, str | int], mpi: str) -> str | None:
    r"""Return the line that passes hints to an MPI library; None if there are no hints, or it supports none of them.

    Parameters
    ----------
    hints : Mapping[str, str | int]
        Hints by name.
    mpi : str
        Name of the MPI library.

    Raises
    ------
    InputError
        If the MPI is unknown.

    Examples
    --------
    >>> for mpi in MPIS:
    ...     print(hints_line({"romio_cb_write": "enable", "cb_nodes": 8}, mpi))
    export MPICH_MPIIO_HINTS='*:romio_cb_write=enable:cb_nodes=8'
    printf 'romio_cb_write enable\ncb_nodes 8\n' > romio-hints; export ROMIO_HINTS=$PWD/romio-hints
    export OMPI_MCA_io_ompio_num_aggregators=8
    """
    if mpi not in MPIS:
        raise refusal("mpi", mpi, f"must be one of: {', '.join(MPIS)}")
    if mpi == "ompio":
        settings = " ".join(f"{_OMPIO[key]}={value}" for key, value in hints.items() if key in _OMPIO)
        return f"export {settings}" if settings else None
    if not hints:
        return None
    if mpi == "cray":
        return "export MPICH_MPIIO_HINTS='*:" + ":".join(f"{key}={value}" for key, value in hints.items()) + "'"
    lines = "".join(f"{key} {value}\\n" for key, value in hints.items())
    return f"printf '{lines}' > romio-hints; export ROMIO_HINTS=$PWD/romio-hints"
