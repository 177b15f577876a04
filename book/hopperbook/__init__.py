"""The book's package: additions of its pages and notebooks to `hopperlib`; `make` installs it, and no wheel contains
it.

==============  ===============================================================
`checks`        how each documented value is checked: the rows of ``data/checks.csv``
`studies`       what the models give for the documented values, one module a study
`score`         all of it as one table, the scorecard
`study_tables`  the tables and charts that every study's notebook shows
`self_checks`   questions to the reader, with an answer that the model gives
`teaching`      instructors' sheets, handouts, and the test of the workshop
`project`       ``python -m hopperbook.project``: the final project, its key and its rubric
`site`          the Sphinx extension, the theme and the browser's side
`build`         ``python -m hopperbook.build``
`serve`         ``python -m hopperbook.serve``
`warm`          what notebooks load, for the kernels of a build
==============  ===============================================================
"""
