"""An answer for a person or a program.

=========  ===========================================================================
`text`     what fits a screen of a terminal, or all of it
`data`     JSON for programs: one schema for every question
`html`     the parts of an answer as HTML, for pages, notebooks and reports
`answer`   what the worker of a page sends back
`svg`      a figure as a static picture, drawn by matplotlib
`page`     an answer as one self-contained page
`widgets`  explorers, figures and self-checks in JupyterLab
=========  ===========================================================================
"""
