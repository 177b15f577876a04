"""The node: launch lines, placement of tasks, memory and bandwidth.

=============  ====================================================================
components     what a launch line asks for, and the error of a line that is refused
launch         launch lines and batch scripts read into those
placement      every task's cores and NUMA nodes on every node
bandwidth      memory bandwidth that tasks get when they share NUMA nodes
slowdown       what a placement costs against the same tasks spread evenly
advice         what is wrong with a placement, or worth knowing about it
suggestion     a better line for the same launcher
equivalent     the same placement as a line of the other launcher
review         all of it in one call
bindings       a placement as lists and files that launchers and MPI libraries take
formats        a placement as data: JSON and table rows
picture        a placement in words and as text
memory         memory that tasks get on a node, and what takes it away
layouts        layouts of a job that fit, and what each is charged
free_cores     when tasks finish sooner with some cores left to the node's own work
=============  ====================================================================

Behind `launch` and `placement`:

=======================  ==========================================================
words, shell, scripts    shell text cut up: words, statements, launch lines
options, values          options of a launcher and their values
pbs, sbatch              what a batch script reserves
claims                   whether a line fits what was reserved
aprun, aprun_layout      aprun: its lines, and how it fills a node
srun, srun_layout        srun: its lines, and where it puts tasks
slurm_options            srun's options and the environment it reads
slurm_binding            values of --distribution, --cpu-bind and --hint
slurm_cpus               who gets which CPU of a node in a Slurm step
binding                  where one task may run
=======================  ==========================================================
"""
