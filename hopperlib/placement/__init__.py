"""The node: where tasks lie, what memory and bandwidth they get, and what would serve them better.

==============  ==============================================================================================
placement       every task's cores and NUMA nodes on every node; from `binding`, `environment`, `programs`
filling         how aprun, Slurm and the mpiexec launchers fill a node, and which GPUs tasks see
models          bandwidth that tasks get, their memory, run time against threads, pages, cores left free
judging         what a placement costs, what is wrong with it or with the whole script, a better line, tried
layouts         layouts of a job that fit its memory, with their charge
review          a launch line read, placed, judged and improved in one call
printed         a placement against what a program printed of it
as_data         a placement as data; `text_drawing`: as text
==============  ==============================================================================================
"""
