"""The machine of a job log, estimated from it: nodes, partitions, and hours that a clock repeats."""
