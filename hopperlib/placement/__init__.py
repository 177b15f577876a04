"""The node: where tasks lie, what memory and bandwidth they get, and what would serve them better.

============================  ================================================================================
placement, binding            every task's cores and NUMA nodes on every node
aprun_layout, srun_layout,    how aprun, Slurm and the mpiexec launchers fill a node
mpiexec_layout
gpus, gpu_helper              which GPUs tasks see, and a script that deals them out
bandwidth                     memory bandwidth that tasks get when they share NUMA nodes
memory, layouts               memory that tasks get, and layouts of a job that fit with their charge
hybrid                        run time against threads a task: first touch, work of one thread, what MPI costs
pages                         MPI bandwidth between nodes by the size of memory pages
free_cores                    when tasks finish sooner with some cores left to the node's own work
review                        a placement judged in one call
slowdown, advice, programs    what it costs against the same tasks spread evenly, and what is wrong with it
job_checks                    the whole script: what will not run, what is paid for and not used
proposals                     a better line, tried in its script; lines of layouts
suggestions                   the same placement for the other launcher
as_data, text_drawing,        a placement as data, as text, and as launchers and MPI libraries take it
binding_lists
============================  ================================================================================
"""
