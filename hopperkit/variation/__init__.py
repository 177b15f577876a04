"""Why runs of one program differ: their shape, the column that separates them, and the size of what stays unseen.

=============  ================================================================
`robust`       location and regression that a few slow runs cannot overturn (Huber)
`tails`        tails of the F, chi-square and normal distributions
`dip`          one group or two (Hartigan)
`order`        drift and step against shuffled order
`slow`         a few slow runs against an exponential tail
`shape`        which of these the runs show
`factors`      columns and node lists as factors
`separation`   the factor that separates runs, by rank sums against shuffled times
`effects`      several factors at once, each with its effect
`components`   variance within and between jobs
`sizes`        the smallest effect that would have been seen
=============  ================================================================

Everything works on the logarithm of the run time, so that 10 % weighs the same in every run.
"""
