"""The node: placement of tasks, their memory and bandwidth, and better layouts.

==============  ==============================================================================================
components      request of a launch line
launch_line     parser of plain aprun lines
binding         cores of each task, and tasks of each node
aprun_layout    aprun's distribution of tasks on a node
placement       every task's cores and NUMA nodes on every node
models          bandwidth and memory of tasks, run time by threads, pages, free cores
slowdown        cost of a placement in memory bandwidth
layouts         layouts of a job that fit its memory, with their charge
==============  ==============================================================================================
"""
