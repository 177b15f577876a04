"""Models of a large HPC machine, each checked against published numbers for NERSC's Hopper.

The modules are the namespace: ``from hopperlib.placement.placement import place_tasks``.
The subpackages, lowest layer first; each imports only from those above it in this list:

==============  ==================================================================
`machine`       a machine as a record, read from a file, and derived figures
`contention`    throughput of a shared resource, measured ceilings
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
