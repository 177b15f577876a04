"""The node: locations of tasks, their memory and bandwidth, and better layouts.

==============  ==============================================================================================
components      what a launch line asks for
launch_line     a plain aprun line, read
binding         where one task may run, and which tasks each node has
aprun_layout    how aprun fills a node
placement       every task's cores and NUMA nodes on every node
models          bandwidth that tasks get, their memory, run time against threads, pages, cores left free
slowdown        what a placement costs in memory bandwidth
layouts         layouts of a job that fit its memory, with their charge
==============  ==============================================================================================
"""
