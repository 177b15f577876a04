"""Cells of the notebooks: plain Markdown in any program, and their form on the pages.

=============  ================================================================
plain          exercises, solutions, glossary links and citations, for the pages
reading        gives them to Sphinx
run            runs a reader's Python, on a page or in a notebook
install        the first code cell of every notebook
=============  ================================================================
"""
