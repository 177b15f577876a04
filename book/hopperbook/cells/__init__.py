"""The cells of the notebooks: plain Markdown wherever they are opened, and what the pages make of them.

=============  ================================================================
plain          exercises, solutions, glossary links and citations, for the pages
reading        gives them to Sphinx
run            runs a reader's Python, on a page or in a notebook
install        the first code cell of every notebook
=============  ================================================================
"""
