"""Why runs of one program differ: their distribution, the column that separates them, and the size of undetectable
effects.

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
`scaling`      sizes of runs, such as numbers of nodes, that explain most differences
`sizes`        the smallest effect that would have been seen
=============  ================================================================

Implemented here although a package has it, because the question also runs in a browser without packages:

==========================  =======================================  =====================================================
here                        elsewhere                                held together by
==========================  =======================================  =====================================================
`robust.regression`         ``statsmodels.RLM`` (HuberT, H1)         estimates and errors to six digits
`effects.effects_of`        `hopperkit.analysis.robust_terms`        changes and p-values, with outliers
`effects.holm`              ``statsmodels`` ``multipletests``        every list of p-values
`components`                ``statsmodels`` ``mixedlm``              equal jobs, restricted likelihood
`tails`                     ``scipy.stats`` f, beta, norm, chi2      nine digits; chi-square is an approximation
`order.ranks`               ``scipy.stats.rankdata``                 every list with ties
`dip.dip`                   none that is installed                   a linear program of its definition
==========================  =======================================  =====================================================

The rest has no equivalent there: slow runs compared with an exponential tail, and the largest of many rank statistics
compared with shuffled times.

Everything works on the logarithm of the run time, so that 10 % weighs the same in every run.
"""
