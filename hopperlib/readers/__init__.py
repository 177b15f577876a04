"""Files of other tools, read into records.

==========  =================================================================
source      a file, its bytes, a stream or text: one way in for all of them
hardware    what ``lscpu``, ``lstopo``, ``scontrol show node`` and
            ``/proc/meminfo`` say of a node or of a cluster
ior         what IOR prints, from 2.10 to 4.x: text, JSON and CSV
mdtest      what mdtest prints
io_results  the rows that both give
darshan     Darshan logs, through pydarshan
run_times   a column of run times, and which runs belong together, from CSV
swf, sacct  job traces: the Standard Workload Format, and Slurm's accounting
trace       what both give
==========  =================================================================
"""
