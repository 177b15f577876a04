"""The node: launch lines, placement of tasks, memory and bandwidth.

==========================  ======================================================================
launch                      launch lines and batch scripts, read into what they ask for
aprun                       aprun: its options, its claims, and how it fills a node
mpiexec                     mpiexec and mpirun of PALS, Open MPI, MPICH and Intel MPI, in one model of binding
slurm                       srun and sbatch: their options, and where Slurm puts tasks
gpus, environment           which GPUs tasks see; what MPI and OpenMP variables do to ranks and threads
placement, binding          every task's cores and NUMA nodes on every node
bandwidth                   memory bandwidth that tasks get when they share NUMA nodes
memory, layouts             memory that tasks get, and layouts of a job that fit with their charge
hybrid                      run time against threads a task: first touch, work of one thread, what MPI costs a task
pages                       MPI bandwidth between nodes by the size of memory pages
free_cores                  when tasks finish sooner with some cores left to the node's own work
review                      a placement judged: what is wrong, what it costs, which line is better
==========================  ======================================================================

What is assumed, cannot be told, or is no line that a launcher takes, is worded in ``remarks.csv``.

In `launch`: `reader` is the way in, `components` what comes out, with the error
of a line that is refused. Behind them `scripts` finds launch lines in a text
that `shell` cuts up; `options` and `option_values` read what a line says by one
table for all launchers; `line_writer` writes lines.

In `review`: `review` does all of it in one call. `slowdown` says what a
placement costs against the same tasks spread evenly, `advice` what is wrong with
it, `suggestions` finds lines for this launcher and the other;
`as_data`, `text_drawing` and `binding_lists` write a placement as data, as text
and as launchers and MPI libraries take it.
"""
