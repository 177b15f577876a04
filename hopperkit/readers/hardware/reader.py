"""Detect which tool printed a text, and read it into nodes and a machine file."""

import re

from hopperkit.readers.hardware._build import machine_from
from hopperkit.readers.hardware._devices import read_amd_smi, read_nvidia_topo, read_rocm_topo
from hopperkit.readers.hardware._lscpu import read_lscpu, read_meminfo
from hopperkit.readers.hardware._lstopo import read_lstopo
from hopperkit.readers.hardware._numactl import MARK as NUMACTL
from hopperkit.readers.hardware._numactl import read_numactl
from hopperkit.readers.hardware._pbsnodes import RECORD, read_pbsnodes
from hopperkit.readers.hardware._record import Hardware
from hopperkit.readers.hardware._scontrol import read_scontrol
from hopperkit.readers.hardware._slurm_config import MARK, read_slurm_config
from hopperkit.readers.hardware.lfs import TARGET, read_lustre
from hopperkit.readers.source import Source, text_of
from hopperlib.errors import InputError

__all__ = ["Hardware", "machine_from", "read_hardware"]


def read_hardware(source: Source) -> tuple[Hardware, ...]:
    r"""Read the output of any supported tool.

    Parameters
    ----------
    source : str, bytes, path-like or binary file
        Output of ``lscpu``, ``lstopo --of xml``, ``scontrol show node`` (also ``-o``),
        ``scontrol show config``, ``pbsnodes -a``, ``nvidia-smi topo -m``, ``rocm-smi --showtopo``,
        ``amd-smi static --numa``, ``numactl -H``, ``lfs df``, or the text of ``/proc/meminfo``.

    Returns
    -------
    tuple of Hardware
        One record per kind of node or file system.

    Raises
    ------
    InputError
        If the text is not from one of these tools, or lacks data that a machine file needs.

    Examples
    --------
    >>> (kind,) = read_hardware("NodeName=n1 CoresPerSocket=6\n RealMemory=31000 Sockets=4\n ThreadsPerCore=1")
    >>> kind.tool, kind.cores
    ('scontrol', 24)
    """
    start = text_of(source).lstrip("\ufeff \t\r\n")
    # In one piece: a list of markers whose order matters, because later markers also occur in the output of earlier tools.
    if start.startswith("<"):
        return (read_lstopo(start),)
    if MARK in start:
        nodes = read_scontrol(start) if "NodeName=" in start else ()
        return (*nodes, read_slurm_config(start))
    if "NodeName=" in start:
        return read_scontrol(start)
    if re.search(r"^GPU\d+[ \t]+", start, re.MULTILINE) and "CPU Affinity" in start:
        return (read_nvidia_topo(start),)
    if "(Topology) Numa" in start:
        return (read_rocm_topo(start),)
    if re.search(r"^[ \t]*NUMA:[ \t]*$", start, re.MULTILINE) and re.search(r"^GPU:[ \t]*\d", start, re.MULTILINE):
        return (read_amd_smi(start),)
    if NUMACTL.search(start):
        return (read_numactl(start),)
    if start.startswith("MemTotal:"):
        return (read_meminfo(start),)
    if RECORD.match(start):
        return read_pbsnodes(start)
    if "CPU(s):" in start:
        return (read_lscpu(start),)
    if TARGET.search(start):
        return read_lustre(start)
    if not start:
        raise InputError("the text is empty; the tool may have failed")
    raise InputError(
        f"text that starts with {start[:30]!r} is not recognized; supported are the outputs of lscpu (in English: LC_ALL=C lscpu), "
        "lstopo --of xml, scontrol show node or show config, pbsnodes -a, nvidia-smi topo -m, rocm-smi --showtopo, lfs df, or /proc/meminfo; "
        "numactl -H or amd-smi static --numa complete them"
    )
