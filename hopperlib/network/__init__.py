"""The network: the torus, who sits where in it, and what that costs.

===========  =======================================================
torus        wiring, distances, node orders, how compact a job lies
scheduling   workloads, queues, and the scheduler that remembers nodes
runtime      how long a communicating job runs among its neighbors
rank_order   which rank goes where
===========  =======================================================
"""
