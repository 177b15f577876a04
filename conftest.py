"""What tests and examples of docstrings share: none of them depends on the environment that it is run in, or changes it."""

import os
import re
from collections.abc import Iterator

import pytest

# Variables that answers depend on: of a job, of OpenMP and MPI, and of a center's own settings.
_OF_A_JOB = re.compile(
    r"(SLURM|SBATCH|SRUN|SALLOC|PBS|LSB|LSF|FLUX|PALS|ALPS|APRUN|OMP|GOMP|KMP|MKL|OPENBLAS|I_MPI|OMPI|PMI|PMIX|PRTE|MPICH"
    r"|MPIR|MV2|HYDRA|DARSHAN|ROMIO)_|(HOPPER_(MACHINE|RULES|TITLE)|LOADEDMODULES|NO_COLOR)$"
)

for _name in filter(_OF_A_JOB.match, list(os.environ)):
    del os.environ[_name]


@pytest.fixture(autouse=True)
def _environment_left_as_found() -> Iterator[None]:
    """Take back what a test, or a library that it calls, leaves in the environment: Dask sets OMP_NUM_THREADS for good."""
    before = dict(os.environ)
    yield
    # PYTEST_CURRENT_TEST is pytest's, which takes it away itself.
    kept = {name: value for name, value in os.environ.items() if name == "PYTEST_CURRENT_TEST"}
    if before | kept != dict(os.environ):
        os.environ.clear()
        os.environ.update(before | kept)
