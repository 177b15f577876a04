r"""Launch lines and batch scripts, parsed into requests.

=========================================  ====================================================================
scripts, shell                             `read_script`: a text read once, as a shell does, into a `Script`
reader                                     `read_launch`: what one of its launch lines requests on a machine
components                                 what comes out, with the error of a line that is refused
options, option_values                     what a line says, by one table for all launchers
dialects                                   the launchers: aprun; srun; PALS, Open MPI, MPICH and Intel MPI
batch                                      what a script requests of the batch system
gpu_wrappers                               what chooses a GPU in front of a program
line_writer                                edits of a line that has been read
=========================================  ====================================================================

Reading needs no placement: whether the tasks fit on the nodes is found out in `hopperlib.placement`.

>>> script = read_script("#SBATCH -N 2\nexport OMP_NUM_THREADS=4\nsrun -n 8 -c 4 ./a.out\n")
>>> script.lines[0].text, script.directives[0].value
('srun -n 8 -c 4 ./a.out', '2')
"""

from hopperkit.launchers.reader import read_launch, read_launches
from hopperkit.launchers.scripts import LaunchLine, Script, read_script
from hopperlib.placement.components import Component, Launch, LaunchError

__all__ = ["Component", "Launch", "LaunchError", "LaunchLine", "Script", "read_launch", "read_launches", "read_script"]
