"""The final project of the workshop: a week of a made-up machine, its key, and how a report about it is graded.

=================  =============================================================
`pack`             all files of a pack and its key, from one seed
`hardware`         nodes, the listings of tools, and a machine file with one mistake
`scripts`          ten batch scripts, some with a fault
`jobs`             a week of jobs as ``sacct`` prints them
`outputs`          twenty outputs of jobs, each with one cause or none
`history`          daily benchmarks, one with a planted loss
`io_logs`          twelve outputs of IOR, one run far slower than its repeat
`grading`          the rubric, and the points of a report
=================  =============================================================

Everything is synthetic: no machine ran any of it. The same seed makes the same bytes.
"""
