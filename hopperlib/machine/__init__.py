"""Machines as data: the validated contents of a TOML file, and derived values.

=========  ===============================================================
machine    the machine, its totals, loading and writing
parts      kinds of node, network, file systems, launchers
layouts    layouts of Lustre as options of lfs setstripe
derived    figures derived from a file, for comparing machines
faults     faults that a machine survives
=========  ===============================================================
"""

from hopperlib.machine.machine import Machine, MachineError, signs_of
from hopperlib.machine.parts import FileSystem, Launcher, Network, NodeKind, OtherStorage, QueueLimit
from hopperlib.schema import Quantity

__all__ = [
    "FileSystem",
    "Launcher",
    "Machine",
    "MachineError",
    "Network",
    "NodeKind",
    "OtherStorage",
    "Quantity",
    "QueueLimit",
    "signs_of",
]
