"""Job traces: a simulated scheduler's answer, its figures and tables, learned rules, and the effect of changes."""
