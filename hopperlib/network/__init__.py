"""The network: torus, dragonfly and fat tree, positions of nodes, and their cost.

===========  =======================================================
torus        wiring, distances, node orders, how compact a job lies
runtime      how long a communicating job runs among its neighbors
rank_order   which rank goes where
fabrics      dragonfly, fat tree and torus behind one interface
===========  =======================================================
"""
