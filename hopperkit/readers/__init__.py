"""Files of other tools, read into records.

=================  ==========================================================
source             a file, its bytes, a stream or text: one way in for all
table              rows and cells of text, and which lines were not taken
run_times          a column of run times, and which runs belong together
benchmark_history  series of benchmarks: CSV files, ReFrame's logs
jobs               job traces: Standard Workload Format, Slurm's accounting
hardware           nodes, clusters and Lustre, as the tools there print them
ior                what IOR, mdtest and IO500 print or leave
darshan            Darshan logs, through pydarshan or ``darshan-parser``
=================  ==========================================================
"""
