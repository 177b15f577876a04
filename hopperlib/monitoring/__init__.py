"""Monitoring of a machine: whether it is as fast as was promised, and still as fast as before.

==============  =============================================================================
`changes`       lasting changes of a benchmark's history: where, by how much, how sure
`history`       histories judged: changes, drifts, outliers, what other columns explain
`together`      benchmarks that moved at one time, and the part of the machine that explains them
`delays`        how many runs pass before a loss is seen, and how often there is none
`ssp`           sustained performance of a suite against its commitments
==============  =============================================================================
"""
