"""The cells of the notebooks: plain Markdown wherever they are opened, and what the pages make of them.

=============  ================================================================
plain          exercises, solutions, glossary links and citations, for the pages
install        the first code cell of every notebook
=============  ================================================================
"""
