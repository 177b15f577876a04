"""Statistics of measured and simulated runs; needs numpy, scipy, pandas and statsmodels.

=============  ================================================================
distributions  families fitted to run times, how well they fit, how sure that is
clustered      least squares where points come in groups that are alike
regression     run time against metrics, spread within and between groups
run_times      a table of run times summed up: families, slow runs, how many repeats show a change
fit_answer     that as an answer: the function `hopperkit.fit`, the command ``hopper fit``
explained      what explains run times, joined with the accounting
ensembles      a function over many settings: worker processes or a cluster,
               results kept as they finish
reports        a site's own traces, histories, logs and lines, as one answer each
=============  ================================================================

Pages of the published book never load this package: explorers use only the standard library.
"""
