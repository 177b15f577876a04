"""What IOR, mdtest and IO500 print or leave: text, JSON and CSV, whole or torn.

=======  ====================================================================
reader   finds out what a file holds: `read_ior`
mdtest   rates of metadata operations
io500    the score and phases of IO500, and the files beside them
results  the rows that all of them give
tokens   numbers, sizes, command lines and error messages as IOR writes them
=======  ====================================================================
"""
