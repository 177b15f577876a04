"""Figures that the reader scrolls through, made at build time out of the models.

============  =================================================================
catalogue     the stories by name
story         steps of text and picture, and their HTML
drawing       drawings whose colors the page's style decides on
milc          run times of MILC: three printed ones, and what slows one job down
milc_samples  its second half: samples, all runs, a rival, the reader's times
two_jobs      the two jobs of that story: their nodes, and how full their links are
placement     twelve tasks of VASP on one node
striping      pieces of a file on their way to OSTs
iobuf         calls against buffers
============  =================================================================
"""
