"""Questions: each declared once, and asked on the page, in JupyterLab, in Python and at the command line.

===============  ==========================================================================
`ask`            how a question is declared: a setting of typed fields, and its answer
`catalogue`      the questions there are, each in one sentence
`question`       the record of a question, from which its command, explorer and function follow
`controls`       what can be set
`result`         what is answered
`figures`        the look of charts
===============  ==========================================================================

The questions stand in the rooms `node`, `network`, `storage`, `failure`,
`monitoring` and `book`, each as one module: controls, answer, examples.
"""
