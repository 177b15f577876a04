"""Made-up outputs of jobs to try the diagnosis on, in the formats of the real programs."""

from __future__ import annotations

__all__ = [
    "CLAIM",
    "CLAIM_LINE",
    "GENERIC",
    "HALF",
    "HALF_ERRORS",
    "NODE_FAILED",
    "OUT_OF_MEMORY",
    "SLURM_OUT_OF_MEMORY",
    "SUCCEEDED",
]

OUT_OF_MEMORY = """\
 step     118   dt =  2.50E-04   energy = -0.78112E+03
 step     119   dt =  2.50E-04   energy = -0.78115E+03
[37] ERROR - nem_gni_error_handler(): a transaction error was detected,error category 0x4 error code 0xb2e
Rank 37 [Mon Mar  7 03:46:10 2011] [c6-3c1s5n1] GNI transaction error detected
[NID 01323] 2011-03-07 03:46:11 Apid 1925046: OOM killer terminated this process.
[NID 01323] 2011-03-07 03:46:11 Apid 1925046: initiated application termination
Application 1925046 exit signals: Killed
Application 1925046 resources: utime ~51840s, stime ~212s
"""

NODE_FAILED = """\
 iteration    41  residual  3.1E-05
[211] ERROR - MPID_nem_gni_check_localCQ(): Replaying failed network transaction
[198] ERROR - MPID_nem_gni_check_localCQ(): Replaying failed network transaction
[210] ERROR - MPID_nem_gni_check_localCQ(): Replaying failed network transaction
[NID 03782] 2011-04-20 18:45:43 Apid 1925046 killed. Received node failed or halted event for nid 3781
Application 1925046 exit signals: Killed
"""

CLAIM = """\
running in /scratch/scratchdirs/someone/run7
apsched: claim exceeds reservation's node-count
"""
CLAIM_LINE = "#PBS -l mppwidth=48\naprun -n 96 ./chombo inputs"

GENERIC = """\
 reading restart file
PGFIO-F-217/list-directed read/unit=11/attempt to read past end of file.
 File name = restart.0007    formatted, sequential access   record = 4
 In source file restart.f90, at line number 88
[12] ERROR - nem_gni_error_handler(): a transaction error was detected,error category 0x4 error code 0xb2e
Rank 12 [Wed May 11 00:55:46 2011] [c1-0c0s4n2] GNI transaction error detected
[13] ERROR - nem_gni_error_handler(): a transaction error was detected,error category 0x4 error code 0xb2e
Rank 13 [Wed May 11 00:55:46 2011] [c1-0c0s4n2] GNI transaction error detected
[NID 01083] 2011-05-11 00:55:47 Apid 1919514: initiated application termination
Application 1919514 exit codes: 127
"""

SLURM_OUT_OF_MEMORY = """\
srun: error: nid004021: task 5: Out Of Memory
srun: Terminating StepId=4231907.0
slurmstepd: error: *** STEP 4231907.0 ON nid004020 CANCELLED AT 2026-03-02T11:04:09 ***
slurmstepd: error: Detected 1 oom-kill event(s) in StepId=4231907.0. Some of your processes may have been killed by the cgroup out-of-memory handler.
srun: error: nid004020: tasks 0-3: Terminated
"""

SUCCEEDED = """\
 warning: 3 cells fell back to first order; error estimate 2.1E-09
 retrying connection to license server ... ok
 FINAL RESIDUAL 8.8E-11, no error
Application 1925101 resources: utime ~86214s, stime ~391s
"""

# Two halves of one job: the output alone shows only victims, the errors name the cause.
HALF = """\
 preparing the run ... done
 starting ./solver
Application 1925046 exit codes: 1
"""
HALF_ERRORS = """\
./solver: error while loading shared libraries: libpetsc.so.3.4: cannot open shared object file: No such file or directory
"""
