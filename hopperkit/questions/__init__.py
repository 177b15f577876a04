"""Questions, each declared once and available on the page, in JupyterLab, in Python and on the command line.

===============  ==========================================================================
`ask`            how a question is declared: a setting of typed fields, and its answer
`catalogue`      the list of questions, each in one sentence
`question`       the record of a question, from which its command, explorer and function follow
`controls`       the settings
`result`         the answer
`figures`        the style of charts
===============  ==========================================================================

The questions are in the packages `node`, `network`, `storage`, `failure`, `monitoring` and `book`, one module each:
controls, answer, examples.
"""
