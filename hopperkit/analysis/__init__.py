"""Statistics of measured and simulated runs; needs numpy, scipy, pandas and statsmodels.

=============  ================================================================
distributions  families fitted to run times, their fit and its uncertainty
clustered      least squares for correlated groups of points
regression     run time against metrics, spread within and between groups
run_times      summary of run times: families, slow runs, repeats needed
fit_answer     this summary as an answer: `hopperkit.fit`, ``hopper fit``
explained      factors that explain run times, joined with accounting data
ensembles      a function over many settings: worker processes or a cluster,
               results stored as they finish
reports        reports on a site's traces, histories, logs and launch lines
=============  ================================================================

Pages of the published book never load this package: explorers use only the standard library.
"""
