"""The public functions of `hopperkit`, by subject; each imports its dependencies when it is called.

==============  ==================================================================
`node`          machines, placement, memory, threads
`network`       torus, interconnect, rank order, overlap
`jobs`          scheduler, traces, run times
`storage`       stripes, one node, small files
`io`            buffers, logs of I/O, chunks, loading
`failure`       failed jobs, builds, nodes
`monitoring`    benchmarks over time
`files`         any file
`readers`       files of other programs -> records
`analysis`      reports, fits, ensembles, data frames, widgets
`kinds`         types of parameters, and how a question is run
==============  ==================================================================

The functions of the first eight are written by ``scripts/write_api.py`` from the questions; a test holds them together.
"""
