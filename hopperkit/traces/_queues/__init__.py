"""Queues for shared nodes, overlapping partitions and custom policies, which `hopperlib.scheduling` takes as an argument."""
