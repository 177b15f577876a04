"""Additions to the engine, Jupyter Book: formulas, the package's reference, notebooks and pages in parallel.

=============  ================================================================
formulas       formulas as MathML
reference      the public names of the package
kernels        the kernels of notebooks, forked from one process
parallel       notebooks run, pages read and written several at a time
finishing      corrections of the engine's pages, and the Content-Security-Policy of each
=============  ================================================================
"""
