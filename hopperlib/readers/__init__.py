"""Files of other tools, read into records.

=========  ==================================================================
hardware   what ``lscpu``, ``lstopo``, ``scontrol show node`` and
           ``/proc/meminfo`` say of a node or of a cluster
ior        what IOR prints, from 2.10 to 4.x: text, JSON and CSV
mdtest     what mdtest prints
darshan    Darshan logs, through pydarshan
run_times  a column of run times, and which runs belong together, from CSV
=========  ==================================================================
"""
