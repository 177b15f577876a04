"""Loads what notebooks load, once for all kernels of a build; not hopperlib, which looks for the notebook it is loaded in."""

import os

# Or the debugger requires another Python.
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"

import pandas as pd
import plotly.express as px
from ipykernel import debugger, ipkernel  # noqa: F401

# As pandas sets it where it is loaded in a notebook.
pd.set_option("display.max_columns", 20)
# The first figure loads the templates.
px.line(pd.DataFrame({"x": [0], "y": [0]}), x="x", y="y").to_json()
