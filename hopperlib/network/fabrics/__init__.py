"""Networks with one interface: dragonfly, fat tree and torus; link loads, and locations of jobs.

===========  ==================================================================
fabric       interface of every network: switches, groups, distances, links
dragonfly    groups of switches, with links between each pair of groups
tree         trees of switches: fat trees, and trees from a site's files
ring_grid    the torus with the same interface
patterns     communication patterns of a job
rates        rates that the links leave each job
choices      free nodes that a scheduler allocates
allocation_spread  location of a job: groups and switches used, traffic inside
===========  ==================================================================
"""
