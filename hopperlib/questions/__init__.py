"""Questions: each declared once, and asked on the page, in JupyterLab, in Python and at the command line.

===============  ==========================================================================
`question`       the record of a question, read from its TOML file
`wording`        the words of an answer, in the same file
`catalogue`      the questions there are
`controls`       what can be set
`result`         what is answered
`figures`        the look of charts
`checks`         self-checks: questions to the reader, with an answer that the model gives
`display`        how a notebook finds what an answer looks like
===============  ==========================================================================

The answers stand in the rooms `node`, `network`, `storage`, `failure` and
`book`: a module that computes, and beside it a TOML file with title, controls,
examples and the words of the answer.
"""
