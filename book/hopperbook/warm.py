"""Loads what notebooks load, once for all kernels of a build, which are copies of the process that did."""

import os

# Or the debugger requires another Python.
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"

import matplotlib.backends.backend_svg  # noqa: F401
import pandas as pd
import plotly.express as px
import statsmodels.formula.api  # noqa: F401
from ipykernel import debugger, ipkernel  # noqa: F401

import hopperkit.analysis.reports
import hopperkit.render.widgets  # noqa: F401
from hopperbook import (  # noqa: F401
    documented,
    exercises,
    questions,
    score,
    self_checks,
    sensitivity,
    study_tables,
)
from hopperbook.exercises import boxes  # noqa: F401
from hopperlib.machine import Machine

# As pandas sets it where it is loaded in a notebook.
pd.set_option("display.max_columns", 20)
# The first figure of a kind reads in the templates and the modules of its traces.
for draw in (px.line, px.scatter, px.bar):
    draw(pd.DataFrame({"x": [0], "y": [0], "kind": ["a"]}), x="x", y="y", color="kind").to_json()
# Tables that every study page reads.
Machine.load("hopper")
documented.all_values()
