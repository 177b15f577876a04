"""Networks with one interface: dragonfly, fat tree and torus; link loads, and locations of jobs.

===========  ==================================================================
fabric       what every network answers: switches, groups, distances, links
dragonfly    groups of switches, each pair of groups joined
tree         switches under switches: fat trees, and what a site's files say
ring_grid    the torus behind the same interface
patterns     who talks to whom in a job
rates        what the links leave each job
choices      which free nodes a scheduler hands out
allocation_spread  where a job lies: groups and switches touched, traffic inside
===========  ==================================================================
"""
