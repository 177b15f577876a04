"""Monitoring of a machine: whether it is as fast as promised, and as fast as before.

==============  =============================================================================
`changes`       lasting changes of a benchmark's history: place, size, certainty
`history`       assessment of histories: changes, drifts, outliers, effects of other columns
`together`      benchmarks that changed at the same time, and the part of the machine that explains them
`delays`        runs until a loss is detected, and the rate of false alarms
`ssp`           sustained performance of a suite against its commitments
==============  =============================================================================
"""
