"""Output of tools about a node, its cluster and its file systems.

=======  ====================================================================
reader   detects the tool, and builds a machine file
cluster  each of Slurm's nodes and partitions, for a simulation
lfs      the OSTs of a Lustre file system, and how its files are striped
=======  ====================================================================
"""
