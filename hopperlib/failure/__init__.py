"""Diagnosis of failed jobs, and prediction of failures.

===========  =======================================================================================
messages     messages as data (``rules/*.toml``), and the scan that finds them in a text of any size
diagnosis    from what a scan found to a verdict: which message is the cause, and how sure that is
builds       known problems of modules, flags and link lines, and the repaired line
nodes        the probability of hitting a bad node or one short of huge pages, and the look at free memory before a run
sacct        what Slurm's accounting prints, as rows
===========  =======================================================================================

`diagnosis.diagnosis` is the way in: files of a job in, a `Diagnosis` out. `messages.rules` reads the rules,
`messages.scanner` applies them, `diagnosis.context` adds facts besides the output (the launch line, the machine, the
scheduler's record).
"""
