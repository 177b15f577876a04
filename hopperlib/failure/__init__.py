"""Diagnosis of failed jobs, and prediction of failures.

===========  =======================================================================================
messages     messages as data (``rules/*.toml``), and the scan that finds them in a text of any size
diagnosis    from what a scan found to a verdict: which message is the cause, and how sure that is
builds       known problems of modules, flags and link lines, and the repaired line
nodes        the probability of hitting a bad node or one short of huge pages, and the check of free memory before it
ranker       a ranking of all lines of an output by features, without rules
===========  =======================================================================================

Start with `diagnosis.diagnosis`: files of a job in, a `Diagnosis` out. `messages.rules` reads the rules,
`messages.scanner` applies them, a `diagnosis.Context` adds facts from sources other than the output (the launch line, the
machine, the scheduler's record).
"""
