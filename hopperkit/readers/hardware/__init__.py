"""Output of tools about a node, its cluster and its file systems.

=======  ====================================================================
reader   any of them, and the machine file that follows
cluster  nodes and partitions of Slurm, one by one, for a simulation
lfs      the OSTs of a Lustre file system, and how files are striped there
=======  ====================================================================
"""
