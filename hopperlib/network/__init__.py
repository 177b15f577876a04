"""The network: the torus, who sits where in it, and what that costs.

===========  =======================================================
wiring       nid, cname and coordinates of a Gemini machine
torus        distances, links and routes
orders       the orders in which a scheduler can walk the nodes
hull         exact convex hull of points with whole coordinates
allocation   how compact the nodes of a job lie
===========  =======================================================
"""
