"""Storage: writes of one node, and of a whole file system.

=========================  ===================================================
lustre.striping            location of the bytes of a file on OSTs
lustre.osts                load of each OST, and time when the last one finishes
lustre.imbalance           mean load of the fullest OST, without sampling
lustre.client              write rate of one or a few nodes
lustre.node_rates          rates of tasks on a node, of nodes together, of aggregators
lustre.rates               duration of a job's writes, and its limit
lustre.dumps               a dump to one file: barriers, slow OSTs, closing
loading                    time for a job to load libraries or modules
iobuf                      gain from buffering the calls of a task
=========================  ===================================================

Striping advice, Darshan logs and other file systems are in `hopperkit.filesystems` and `hopperkit.iologs`.
"""
