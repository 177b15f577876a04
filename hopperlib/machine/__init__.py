"""Machines as data: what a TOML file states, checked, and what follows from it.

=========  ===============================================================
machine    the machine, its totals, loading
parts      kinds of node, network, file systems, launchers, a value's source
schema     the keys a file may have
reader     text -> machine, with every problem named
rules      what must hold between the values
writer     machine -> text
derived    figures that follow from a file, for a comparison of machines
faults     what a machine survives
=========  ===============================================================
"""

from hopperlib.machine.machine import Machine, MachineError
from hopperlib.machine.parts import FileSystem, Launcher, Network, NodeKind, Quantity

__all__ = ["FileSystem", "Launcher", "Machine", "MachineError", "Network", "NodeKind", "Quantity"]
