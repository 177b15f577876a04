"""Models of a large HPC machine, each checked against published numbers for NERSC's Hopper.

The modules are the namespace: ``from hopperlib.placement.placement import place_tasks``.
The rooms, from the lowest up; each imports only from those before it:

==============  ==================================================================
`machine`       a machine as a record, read from a file, and what follows from it
`contention`    what many get out of one thing they share, measured ceilings
`placement`     a launch line -> tasks on cores; bandwidth, memory, threads, pages
`scheduling`    workload, free nodes, policies, one event loop
`network`       torus, dragonfly, fat tree; link loads, run time, rank order
`storage`       one node's writes, Lustre's OSTs, buffers, loading
`failure`       messages, diagnosis, builds, nodes
`monitoring`    sustained performance, lasting changes, detection delay
==============  ==================================================================

Only the standard library is used. Questions about your job, readers of other
programs' files and the command ``hopper`` are in the package `hopperkit`.
"""

__version__ = "0.1.0"
