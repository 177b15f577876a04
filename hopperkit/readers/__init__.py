"""Read the files of other tools into records.

=================  ==========================================================
source             input from a file, bytes, a stream, or text
table              rows and cells of text, and which lines were skipped
run_times          a column of run times, with the group of each run
benchmark_history  series of benchmarks: CSV files, ReFrame's logs
jobs               job traces: Standard Workload Format, Slurm's accounting
hardware           output of tools that describe nodes, clusters and Lustre
ior                output of IOR, mdtest and IO500
darshan            Darshan logs, through pydarshan or ``darshan-parser``
=================  ==========================================================
"""
