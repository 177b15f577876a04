"""The network: torus, dragonfly and fat tree, positions of nodes, and their cost.

===========  =======================================================
torus        wiring, distances, node orders, compactness of a job
runtime      run time of a communicating job among other jobs
rank_order   order of ranks on the nodes
fabrics      dragonfly, fat tree and torus with one interface
===========  =======================================================
"""
