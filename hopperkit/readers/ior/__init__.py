"""Output of IOR, mdtest and IO500: text, JSON and CSV, complete or truncated.

=======  ====================================================================
reader   detects the contents of a file: `read_ior`
mdtest   rates of metadata operations
io500    the score and phases of IO500, and the files next to them
results  the rows that all of them produce
tokens   numbers, sizes, command lines and error messages as IOR writes them
=======  ====================================================================
"""
