"""What went wrong: the cause of a failure out of a job's output.

============  ===================================================================
rules         messages as data (``rules/*.toml``): cause or symptom, whose, advice
lines         lines of any file: compressed, UTF-16, colors, progress bars
facts         rank, node and time out of a message
templates     lines that no rule knows, grouped
words         which lines may hold a message
matching      a line against rules
scanner       the messages in a text, fast
evidence      what a scan found
record        the scheduler's record of a job
context       launch line, machine and record: advice with numbers
causes        a candidate for the cause, and how sure it is
last_words    the program's own message, where no rule knows it
ranking       which message is the cause
diagnosis     all of it: files in, verdict out
labelled      outputs with a known cause, and how often it was named
============  ===================================================================

Before it goes wrong:

=================  ==============================================================
builds             what is loaded and a link line in, known problems and repair out
build_rules        those problems as data (``problems.toml``)
build_environment  modules and variables out of ``module list`` or a script
link_line          a compile or link line, read and written anew
versions           which version is later
default_modules    which modules everybody gets: what each choice breaks
bad_nodes          the chance to meet a bad node, and what a check is worth
preflight          free memory of nodes before a run
=================  ==============================================================
"""
