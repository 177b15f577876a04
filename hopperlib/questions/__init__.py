"""Explorers: questions that a reader can play with, answered by the models.

============  ==========================================================
controls      what a reader can set
result        what an explorer answers
explorer      the explorer itself, and the call that a page's worker makes
catalogue     the explorers there are
checks        self-checks: questions with an answer that the model gives
figures       the look of charts
drawings      drawings as SVG
notebook      what a notebook shows for a figure, a table or a drawing
placement     explorer: where the tasks of a launch line land
============  ==========================================================
"""
