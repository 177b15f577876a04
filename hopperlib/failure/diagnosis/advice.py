"""Advice for a cause, from the items in its lines: a file, an option, two numbers, a line of the program's source.

A step is complete or omitted: ``<job>`` in a rule's step is filled from the message and the lines around it.
"""

import re
from collections.abc import Mapping, Sequence

from hopperlib.failure.diagnosis._schedulers import Scheduler, scheduler_of
from hopperlib.failure.diagnosis.causes import Cause
from hopperlib.failure.messages.evidence import Evidence
from hopperlib.failure.messages.locations import strip_label
from hopperlib.failure.messages.rules import Rule

# Steps of an answer, lines of a cause that are searched, and lines of a stack around it.
_STEPS = 2
_LINES = 6
_STACK = 120

_KB_PER_GB = 1024**2
# Memory added to that with which a job was killed.
_MARGIN = 1.25

# A path of a file: with a folder or an ending, and a letter; and a name in quotes or bare.
_FILE = r"""['"`<]{0,2}(?<![\w./~-])(?P<file>(?!https?:|\d{1,4}\.\d)[\w.~$/@+-]{0,100}(?:/|\w\.)[\w.~$/@+-]{0,150}\w)/?['"`>]{0,2}"""
_WORD = r"""['"`‘]?(?P<word>[A-Za-z_-][\w.%-]{0,80}\w|[A-Za-z]\b)['"`’]?"""
_COUNT = r"\d{1,9}"

# Items in the lines of any program, with advice; the first match counts.
_NAMED = {
    # Advice that helped others whose runs ended with these words, with its source. ORCA manual, parallel MDCI; FDS user
    # guide, MPI processes and meshes
    r'(?i)number of processes \((?P<tasks>\d{1,7})\).{0,60}exceeds (?:the )?number of (?P<parts>\w{1,20}) \((?P<most>\d{1,7})\)': "Start at most {most} processes instead of {tasks}: the calculation has only {most} {parts} to distribute.",
    # firemodels/fds#10192
    r'(?i)number of MPI processes, (?P<tasks>\d{1,7}), exceeds the number of (?P<parts>\w{1,20}), (?P<most>\d{1,7})': "Start at most {most} MPI processes instead of {tasks}, or split the {parts}. With 0 {parts} the input was not read: check its file name.",
    # Molpro manual, section on memory
    r'(?i)insufficient memory available - require {1,20}(?P<need>\d{4,20})': "Molpro requested {need} words of 8 bytes: raise `memory,...,m` (words per process), or start fewer processes on a node. If no node has that much, use a smaller active space.",
    # ORCA manual, global memory use
    r'(?i)ORCA.{0,200}not enough memory': "Raise `%maxcore` (MB per process) to at most three quarters of the node's memory divided by the processes, or start fewer processes.",
    # Quantum ESPRESSO, INPUT_PW; user's guide, troubleshooting
    r'convergence NOT achieved after {1,20}(?P<steps>\d{1,6}) iterations': "Raise `electron_maxstep` beyond {steps}; if the estimated accuracy does not improve, lower `mixing_beta` (0.7 to 0.3 or less) or use smearing for a metal.",
    # Quantum ESPRESSO, user's guide, bfgs
    r'history already reset at previous step': "The steps of the relaxation no longer lower the energy: tighten `conv_thr`, so that forces are exact enough, and start again from the last positions.",
    # ORCA manual, MDCI; Psi4 manual, DLPNO
    r'(?i)\bCCSD\b.{0,60}not converged|\bDLPNO\b.{0,20}iterations exceeded|iterations have NOT converged': "Raise the limit of iterations of this method (ORCA `%mdci MaxIter`, Psi4 `DLPNO_MAXITER`); if the residual grows, check the reference wave function first.",
    # ABACUS documentation, SCF convergence
    r'(?i)CONVERGENCE HAS NOT BEEN ACHIEVED': "Raise the limit of SCF steps (ABACUS `scf_nmax`); if the density error oscillates, lower `mixing_beta`.",
    # apptainer documentation, run and exec
    r'"(?P<program>[^"]{1,80})": executable file not found in \$PATH': "`{program}` is not in the image's PATH: give its full path in the container, or search for it with `exec <image> which {program}`.",
    # Colvars manual, optimal alignment; fhh2626/BFEE3#103
    r'colvars.{0,80}Too many iterations in routine jacobi': "A fitted rotation of the colvar became undefined: check for atoms that moved far in the last steps, and the group and the reference positions of the colvar.",
    # ESCOMP/CTSM#654
    r'XRC recv QP to RTR': "The InfiniBand connection failed inside HPE MPT, not in the program: load another version of MPT (2.16 is known for it), and report it to the site.",
    # flux-framework/flux-core#5046
    r'\.flux. does not exist': "This version of Flux needs a key: run `flux keygen` once, or use a newer Flux of the site.",
    # flux-framework/flux-sched#1372
    r'alloc denied due to type="match error"': "The scheduler found no set of resources of that form: name a queue (`-q`) and the nodes (`-N`), and compare them with `flux resource list`. If a plain job is denied too, report it.",
    # radical-cybertools/radical.pilot#301; pmodels/mpich, Hydra's documentation
    r'tm_init\(\) failed with TM error|tm_poll\(obit_event\) failed with TM error': "mpiexec lost its connection to PBS's daemon: start it on the job's first node, or without PBS's interface (`-launcher ssh -f $PBS_NODEFILE`).",
    # apptainer/singularity#6222
    r'unable to open host file: (?P<file>\S{1,200})': "{file} is not visible there: in a container bind its folder (`--bind`), or start mpiexec outside of the container.",
    # kynema/kynema-ugf#926; kokkos/kokkos#6865
    r'Kokkos failed to allocate memory for label "(?P<label>[^"]{1,120})".{0,160}MemorySpace named "(?P<space>\w{1,20})".{0,80}size (?P<size>[\d.]{1,12} [KMGT])': "{space} memory had no {size}B left for `{label}`: use more GPUs or nodes, or start fewer tasks on each. A partitioned device (MIG) or one of another generation also rejects calls: read the error code in the message.",
    # JuliaParallel/SlurmClusterManager.jl#54; GNU C Library manual, ECONNREFUSED
    r'(?i)ECONNREFUSED|connection refused': "No process listened at that address and port: check that the first process is still running, and that it listens on the address of the node and not on 127.0.0.1 or the name of a login node.",
    # GROMACS, common errors; michellab/BioSimSpace#305
    r'(?i)no domain decomposition for (?P<ranks>\d{1,7}) ranks': "Start fewer than {ranks} ranks for a box of this size, with more threads each (`-ntomp`), or use some of them only for PME (`-npme`).",
    # NCAR/pi-wrf#21; WRF users' guide, chapter 5
    r'error opening (?P<file>wrf\w{1,60}) for reading': "`{file}` is not in the folder where wrf.exe runs, or was created for other dates or another `max_dom`: run real.exe again, and compare with `ls -l` in that folder.",
    # charmplusplus/charm#1630
    r'Increase bitset size': "The load balancer's tree was compiled for fewer neighbors: build Charm++ again with a larger bitset, or choose another balancer (`+balancer GreedyRefineLB`).",
    # lattice/quda#1499
    r'(?i)blas_helper\.cuh|Mismatched sizes a=\d': "Two fields of different precision or subset were combined: give all of them the same size and precision in the solver's parameters; if they have, report it with both sizes.",
    # materialsproject/custodian, src/custodian/gaussian/handlers.py
    r'Out-of-memory error in routine|galloc: {1,4}could not allocate memory': "Raise Gaussian's %mem, and the memory of the job by a few GB more than that.",
    # materialsproject/custodian, src/custodian/vasp/handlers.py
    r'rotation matrix was not found|group operation missing|Could not get correct shifts|Inconsistent Bravais lattice|symmetry equivalent atom not found': "Give the positions of VASP's POSCAR more digits, or reduce SYMPREC (1E-8); otherwise turn symmetry off (ISYM = 0).",
    # llvm/llvm-project, openmp/runtime/src/i18n/en_US.txt
    r'OMP: Error #15: Initializing (?P<library>\S{1,80}), but found (?P<other>\S{1,80})': "{library} and {other} are in one program: install all packages from one source, a single conda channel or only modules.",
    # openbabel/openbabel, issue threads on MKL
    r'MKL FATAL ERROR: Cannot load': "Load the MKL module in the job script too; with Python, install numpy and MKL from one channel.",
    # pytorch/pytorch, torch/csrc/DataLoader.cpp
    r'out of shared memory|insufficient shared memory': "Give the container more shared memory (--shm-size, --ipc=host), or start fewer data-loading workers.",
    # qt/qtbase, src/plugins/platforms/xcb/qxcbconnection.cpp; tcltk/tk, unix/tkUnixEvent.c
    r"could not connect to display|no display name and no|(?:[Cc]annot|Can't|[Uu]nable to) open display": "A batch job has no screen: write figures to files (for matplotlib MPLBACKEND=Agg, for Qt QT_QPA_PLATFORM=offscreen).",
    # materialsproject/custodian, src/custodian/vasp/handlers.py
    r'ZBRENT: {0,4}fatal': "Copy VASP's CONTCAR to POSCAR and start again, with a tenth of the current EDIFF; if it recurs, use IBRION = 1.",
    # Environment Modules, conflict; Lmod documentation
    r'(?i)cannot be loaded due to a conflict|module.{0,60}conflicts? with': "Begin the job script with `module purge` (or `module reset`), then load in the order of the documentation.",
    # OpenFOAM, src/OpenFOAM/db/dictionary/dictionary.C
    r'keyword (?P<word>\S{1,80}) is undefined in dictionary "(?P<file>[^"]{1,200})"': "Add `{word}` to {file}; a tutorial of the same solver and version has it.",
    # PBS Professional administrator's guide, memory limits by cgroups
    r'Job (?P<job>\d{1,12}) has exceeded memory allocation on node (?P<node>[\w.-]{1,80})': "Request more memory (`qsub -l mem=`), or start fewer tasks on each node.",
    # OpenFOAM, runTimeSelectionTables
    r'Unknown [\w ]{1,40} type (?P<word>\w{1,60})': "This program has no `{word}`: use one of the names listed below the message.",
    # CRAN, utils; mlr-org/mlr, requirePackages
    r"there is no package called ['‘’`](?P<word>[\w.]{1,60})|install the following packages: (?P<other>[\w.]{1,60})": "`Rscript -e 'library({word})'` in the job's environment: install the package there (`install.packages(\"{word}\")` on a login node), or set R_LIBS_USER to the library that has it.",
    # lammps/lammps, lib/gpu
    r"(?i)insufficient memory on (?:accelerator|device|gpu)": "The GPU's memory is full: start fewer tasks on each GPU, spread the problem over more GPUs, or keep part of it on the CPUs.",
    # OpenFOAM, src/Pstream/mpi/UPstream.C
    r"attempt to run parallel on 1 processor": "Start at least 2 tasks with the launcher, or omit `-parallel`. If several tasks each see only themselves, launcher and program belong to different MPI installations: `which mpirun; ldd $(which PROGRAM) | grep libmpi`.",
    # OpenFOAM user guide, sec. 2.2.1 and 3.5
    r"Foam::sigFpe": "In OpenFOAM a division by zero usually follows a diverging solution: check Courant number and residuals of the last steps, lower `deltaT` or `maxCo`, and run checkMesh; if the first step fails, check for zero fields and boundary values.",
    # psf/requests, docs; huggingface/huggingface_hub, environment variables
    r"IncompleteRead\(|ChunkedEncodingError|Connection broken": "A download was interrupted: fetch the data once on a login or transfer node, and let the job read the copy (for models HF_HOME and HF_HUB_OFFLINE=1).",
    # cornelisnetworks/opa-psm2, psm2 programmer's guide
    r"(?i)assign_context command failed: Device or resource busy|PSM2 can't open hfi unit": "All hardware contexts of the Omni-Path card are in use: start fewer ranks on a node, or share contexts (`export PSM2_MAX_CONTEXTS_PER_JOB=N`, N below the cores of a node); `lsof /dev/hfi1*` on that node shows processes of earlier jobs.",
    # pytorch, docs, notes on autograd anomaly detection and amp
    r"(?i)non-?finite (?:loss|gradient)|loss (?:is|was|became|turned) (?:nan|inf)": "Lower the learning rate or clip gradients (`torch.nn.utils.clip_grad_norm_`); `torch.autograd.set_detect_anomaly(True)` names the operation that produced the first such value, and a run in float32 shows whether mixed precision is the reason.",
    # tensorflow/tensorflow, core/framework/op_kernel
    r"Not found: (?P<file>[\w./+-]{3,300}); No such file": "`ls -l {file}` in the folder where the job runs: correct the name, or put the file there first.",
    # docs.python.org, what's new; the versions of the syntax
    r"^(?:\w{1,20}: )?SyntaxError: invalid syntax": "Put `python --version` before that line of the job script: a Python older than the program rejects valid lines; it is often the system's Python, used because a module or environment was not loaded.",
    # SchedMD/slurm, srun(1), --gpu-bind
    r"Invalid --gpu-bind argument": "`--gpu-bind` takes none, closest, single:N, per_task:N, map_gpu:LIST or mask_gpu:LIST, after an optional `verbose,`.",
    r"Memory required by task is not available": "No node of that partition has the memory per task: `sinfo -o '%P %m %c'` lists memory (MB) and cores; lower `--mem`, or `--mem-per-cpu` times `--cpus-per-task`, to that.",
    # pmodels/mpich, src/pm/hydra, launch.c
    r"execvp error on file (?P<word>-?\d{1,6}) \(": "mpiexec took `{word}` for the program name: a preceding option takes fewer values than were given.",
    # docs.python.org, library, tabnanny
    r"TabError: ": "`python -m tabnanny FILE` lists the lines: indent the whole file with spaces (`expand -t 4`).",
    # BenLangmead/bowtie2, manual
    r"Could not locate a Bowtie index[^\n]{0,60}\"(?P<file>[^\"\n]{1,300})\"": "`ls {file}*.bt2 {file}*.ebwt` in the folder where the job runs: give -x the path up to these endings, or first build the index with bowtie2-build.",
    # ESMCI/cime, issue threads on namelists
    r"namelist read returns an end of file": "The namelist group that was being read is not in the file, or the group before it is not closed with `/`: compare the file with one that the same version generated.",
    # Items that any program's message may name.
    r"version `(?P<word>[\w.]{1,60})' not found \(required by (?P<file>[^)\n]{1,300})\)": "`ldd {file}` shows which library is used: load the newer one that has {word}, and limit LD_LIBRARY_PATH to one installation.",
    r"Cause: SIG(?:TERM|INT)\b": "A user or the scheduler stopped Nextflow itself: `sacct` shows how its job ended, and whether its time was up.",
    rf"Cause: {_FILE}$|module file for include: {_FILE.replace('file>', 'other>')}": "`ls -l {file}` in the folder where the job runs: correct the name, or put the file there first.",
    rf"file not found, unit {_COUNT}, file {_FILE}": "`ls -l {file}` in the folder where the job runs: correct the name, or put the file there first.",
    r"invalid reference to variable in NAMELIST.{0,80}position (?P<column>\d{1,6})": "The namelist has a variable (it ends at position {column}) that this version of the program does not support: correct or remove it.",
    r"(?P<file>/\S{1,200}): Is a directory": "{file} is a folder: name the program or the file in it.",
    r"(?P<file>[\w./+-]{1,200}\.\w{1,5}):(?P<line>\d{1,7}):(?:\d{1,5}:)? (?:fatal )?error: ": "Begin at line {line} of {file}: the compiler rejected it.",
    r"line (?P<line>\d{1,6}): (?P<word>-[\w-]{1,40}): command not found": "A variable in front of `{word}` in line {line} is empty: set it to the intended command, such as the compiler.",
    r"execv\w{0,2}(?:\(\))?:? '(?P<file>[\w./+-]{1,200})'": "Give the full path of `{file}`; without a / it must be in PATH on every node.",
    r"(?i)(?:finding|unknown|undefined|missing|no) (?:dimension|variable) '(?P<word>\w{1,60})'|'(?P<other>\w{1,60})' (?:dimension|variable) is not defined": "`ncdump -h FILE | grep {word}` on the input that was read: the name is missing; recreate the input with the tools of this version.",
    r"(?i)requires? (?:exactly|at least) (?P<least>\w{1,10}) (?P<word>(?:MPI )?(?:process(?:es)?|tasks?|ranks?|nodes?|GPUs?))": "Start it with {least} {word}, as it requires.",
    r"--rerun-incomplete": "Run Snakemake once more with `--rerun-incomplete`: an earlier run was stopped while it wrote those files.",
    r"PML \w{1,10} cannot be selected": "Open MPI found no component for that network: check with `which mpirun; ldd PROGRAM | grep libmpi` that both belong to one installation, and that OMPI_MCA_pml is not set.",
    r"/slurmd/\S{0,100}job\d{1,12}/(?P<word>(?!slurm_script)[\w.-]{1,80})": "Slurm runs a copy of the script elsewhere: name `{word}` by its full path, as `$SLURM_SUBMIT_DIR/{word}`.",
    r"undefined reference to [`'](?P<word>[^'\n]{1,80})": "The linker does not find `{word}`: add the object file or the library (`-l`) that defines it, after those that use it.",
    r"torch_extensions/": "Remove ~/.cache/torch_extensions: its libraries were built with another version of torch, and are rebuilt automatically.",
    r"\bmodule: command not found": "Begin the job script with `#!/bin/bash -l`: the command `module` is defined only in login shells.",
    r"\b(?P<word>Export|Echo|Cd|Source|Module|Mkdir|Python|Mpirun|Srun): command not found": "The shell is case-sensitive: write `{word}` in lower case.",
    r"Requested node configuration is not available|CPU count per node can not|Memory specification can not": "No node has the requested resources: `sinfo -o '%P %c %m %G'` lists the cores, memory and GPUs of each partition; lower `--cpus-per-task`, `--ntasks-per-node`, `--mem` or `--gres` to that.",
    r"\b(?P<word>QOS(?:Max|Grp)(?:Submit)?Jobs?\w{0,40}|QOS\w{0,10}Submit\w{0,40})\b": "You have as many jobs as `{word}` allows: wait until some have ended, or put several runs into one job. `sacctmgr show qos format=Name,MaxSubmitPU,MaxSubmitPA,MaxJobsPU,GrpSubmit` shows the number.",
    r"\b(?P<word>Assoc(?:Max|Grp)(?:Submit)?Jobs?\w{0,40}|Assoc\w{0,10}Submit\w{0,40})\b": "You or your account have as many jobs as `{word}` allows: wait until some have ended, or put several runs into one job. `sacctmgr show assoc where user=$USER format=Account,QOS,MaxSubmit,MaxJobs,GrpSubmit,GrpJobs` shows the number.",
    r"\b(?P<word>QOS(?:Max|Grp|Min)\w{3,40})\b": "`sacctmgr show qos format=Name,MaxTRES%40,MaxTRESPU%40,GrpTRES%40,GrpTRESMins%40,MaxWall` shows the limit `{word}`: request less than that, or choose another QOS.",
    r"\b(?P<word>Assoc(?:Max|Grp|Min)\w{3,40})\b": "`sacctmgr show assoc where user=$USER format=Account,QOS,MaxTRES%40,GrpTRES%40,GrpTRESMins%40,MaxWall` shows the limit `{word}`: request less than that, or charge another account.",
    r"Invalid account": "`sacctmgr show assoc user=$USER format=Account,Partition,QOS` lists what you may use: choose from these with `--account` and `--partition`.",
    r"[Ii]nvalid partition": "`sinfo -s` lists the partitions: give one of those with `--partition`.",
    r"[Tt]ime limit (?:is )?invalid|Requested time limit": "`sinfo -o '%P %l'` lists the longest time of each partition: request less with `--time`, or choose another partition.",
    r"I/O error writing script": "The scheduler's server could not store the job script, a problem of its disk, not of your job: report it to the staff, and submit again later.",
    r"PMI2? (?:init failed|_Init)|PMI2?_Init|PMI server not found|invalid PMI1 init command": "Start it with the launcher that belongs to its MPI library: `srun --mpi=list` shows what Slurm offers (`--mpi=pmi2` or `pmix`), otherwise its `mpiexec`.",
    r"(?i)\bofi\w{0,30}\b.{0,60}fail|\bfi_(?:getinfo|fabric|domain|endpoint|cq_readerr)\b": "Run once with `export FI_PROVIDER=tcp`: if that works, the fast network or its libfabric is at fault; report it with the output of `fi_info -l`.",
    r"Invalid tag, value is (?P<have>\d{1,12})": "Tag {have} is above what this MPI allows (its attribute MPI_TAG_UB): use lower tags, or an MPI that allows more.",
    r"invalid permissions for mapped object": "If the program passes GPU buffers to MPI, load an MPI with GPU support (`ucx_info -d | grep -i cuda`), or copy them to the host first.",
    r"can not load PMIx library|mpi_pmix\.c.{0,60}can not load": "Start with `srun --mpi=pmi2` or the MPI library's `mpirun`: Slurm's PMIx plug-in does not find its library; report it to the staff.",
    r"(?i)open any port in the range \[(?P<least>\d{1,6}) (?P<other>\d{1,6})\]": "No port from {least} to {other} could be opened on that node: submit again on another node, or set another range.",
    r"top=(?P<have>\d{1,9}), max=(?P<least>\d{1,9})": "The list needs {have} entries and has {least}: raise the parameter for its size in the input (LAMMPS: `safezone`, `mincap` of the pair style), or start with more processes.",
    rf"\b[Ee]xpected (?:\w{{1,20}} ){{0,3}}(?P<least>{_COUNT})\b[^\n]{{0,40}}\b(?:got|found|received|but is|but was) (?P<have>{_COUNT})\b": "Find out why {have} were given where {least} were expected: the input and the program, or two of their versions, do not match.",
    r"(?s)\bconvert string (?P<word>'[^']{1,60}') to \w{1,20}": "Correct the input: it has {word} where a number is expected.",
    rf"{_FILE} (?:\w{{1,20}} )?already exists|[Ff]ile exists:? {_FILE.replace('file>', 'other>')}": "`{file}` is left over from an earlier run or was created by another task: remove or rename it, or let each run write to a separate folder.",
    rf"{_FILE}\W{{1,4}}Permission denied|Permission denied\W{{1,5}}?{_FILE.replace('file>', 'other>')}": "`ls -ld {file}` shows its owner and permissions: ask the owner for access, or `chmod` it if it is yours.",
    rf"(?i)(?:could not|cannot|can't|unable to|failed to) (?:synchronously )?(?:write|create|save|open (?:an? |the )?output)\b[^'\"\n/]{{0,40}}?{_FILE}": "Check that the folder of `{file}` exists and is writable, and create it with `mkdir -p` if not; `df -h` and `quota -s` show whether there is space.",
    rf"(?i)(?:cannot|can.t|could ?n.t|could not|unable to|failed to) (?:find|open|read|load|access|stat|locate)\b[^'\"\n/:]{{0,40}}?{_FILE}": "`ls -l {file}` in the folder where the job runs: correct the name, or put the file there first.",
    rf"{_FILE}'?\W{{0,4}}(?:No such file or directory|open failed: ENOENT|(?:is |was )?not found\b(?! \(required)|does(?: not|n't) exist)": "`ls -l {file}` in the folder where the job runs: correct the name, or put the file there first.",
    rf"(?i)(?:no such file or directory|file not found|could not find file|non-?existent file|does not exist)\W{{1,4}}?{_FILE}|configfile {_FILE.replace('file>', 'other>')} but it is not present": "`ls -l {file}` in the folder where the job runs: correct the name, or put the file there first.",
    rf"[Uu]nknown (?:[\w-]{{1,20}} ){{1,4}}definition: {_WORD}": "`{word}` is set or used, but not defined: correct its spelling, or define it.",
    r"[Ff]ind file \"(?P<file>[^\"\n]{1,80})\" in directory \"(?P<other>[^\"\n]{1,120})\"": "`ls {other}` in the case's folder: `{file}` belongs there; run the tool that creates it (a mesh by `blockMesh` or another tool) or copy it first.",
    r"item '(?P<word>\w{1,60})' from file (?P<file>[\w.]{1,60}\w)": "Correct `{word}` in {file}: a different type or number of values is expected there.",
    r"could not find function \"(?P<word>[^\"\n]{1,80})\"": "Load the package that has `{word}` with `library()`, in the workers too.",
    # PETSc manual, KSP: solving singular systems and zero pivots
    r"DIVERGED_PC_FAILED": "The preconditioner failed, usually at a zero pivot: look for a row of the matrix without entries (a missing boundary condition), or try `-pc_factor_shift_type nonzero`.",
    rf"(?i)(?:error|problem)s? (?:reading|opening|parsing|loading) (?:[a-z]\w{{0,20}} ){{0,4}}{_FILE}": "`ls -l {file}` in the folder where the job runs: check that it is there, readable and complete.",
    rf"(?:[Uu]nrecogni[sz]ed|[Uu]nknown|[Ii]llegal|[Ii]nvalid|[Uu]nexpected) (?:command[- ]line |[\w-]{{1,20}} )?(?:option|keyword|flag|parameter|command|switch)s?\W{{1,4}}{_WORD}": "Remove `{word}`, or spell it as in the documentation of your version of the program.",
    r"(?:unrecogni[sz]ed|unknown) arguments?: (?P<word>[^\n]{1,80})": "Remove `{word}`, or spell it as in the program's `--help`.",
    rf"namelist object name {_WORD}": "`{word}` is not a variable of that namelist in this version of the program: correct or remove it in the input file.",
    rf"(?i)(?:error|problem|failed)\W{{0,3}}(?:in |while )?read(?:ing)? (?:of )?namelist {_WORD}": "Compare `&{word}` in the namelist file with the documentation of your version: an unknown variable, a value of another type or a missing `/` stops the reading.",
    rf"(?i)(?:undefined (?:identifier|variable)|missing process or function with name) {_WORD}|\b(?:name|variable|object) '(?P<other>\w{{1,80}})' (?:is not defined|not found)": "`{word}` is used but not defined: correct its spelling, or define or include it first.",
    rf"(?i)error on script line (?P<line>{_COUNT})": "Begin at line {line} of the script that was run.",
    rf"in (?:file|rule) {_FILE}, line (?P<line>{_COUNT})": "Begin at line {line} of {file}.",
    rf"line:? (?P<line>{_COUNT}),? (?:column|character):? (?P<column>{_COUNT})": "Correct line {line}, column {column} of the file that was being read: a different type of value is expected there.",
    rf"`?{_WORD}`? declares (?P<least>{_COUNT}) \w{{1,20}} channels? but (?P<have>{_COUNT})": "Call `{word}` with {least} channel(s) instead of {have}, or change its definition.",
    rf"require[sd]? (?P<least>{_COUNT}) (?P<word>\w{{1,20}}),? but (?:only )?(?P<have>{_COUNT})": "Request {least} {word} from the scheduler (the job had {have}), or set the program to {have}.",
    r"\b(?P<word>\w{1,40}) (?:is |must be )?not a multiple of (?P<other>\w{1,40})": "Set `{word}` to a multiple of `{other}`.",
    r"\b(?P<word>\w{1,40}) (?:is not|not|must be) (?:evenly )?divisible by (?P<other>\w{1,40})": "Set `{word}` to a multiple of `{other}`.",
    r"(?i)exceeded (?:its |the )?(?:walltime|wall clock|wall time|run ?time) limit|resource allocation expired": "Request more time (`qsub -l walltime=`, `sbatch --time=`), or write checkpoints and resume from the last one.",
    r"(?i)exceeded (?:its |the |your )?memory (?:quota|limit)|used too much memory": "Request more memory (Slurm `--mem=`, PBS `-l mem=`, HTCondor `request_memory`), or start fewer processes on a node.",
    r"(?i)URL (?P<url>https?://[^\s'\"]{1,300}) returned error code: \d{3}|(?:not found|not find|[Ff]ailed to (?:fetch|download))[^\n]{0,60}?(?P<other>https?://[^\s'\"]{1,300})": "Try `curl -I {url}` on that node: correct the name, or log in first if it answers 401 or 403.",
    r"(?i)connect[^\n]{0,80}?\b(?P<host>(?:[\w-]{1,60}\.){1,6}[\w-]{1,60}):(?P<port>\d{2,5})\b": "`nc -vz {host} {port}` on a node of the job shows whether anything listens there; if not, the server's log shows why it ended.",
    r"\bKeyError: (?:key )?(?P<word>'[^'\n]{1,80}'|\"[^\"\n]{1,80}\")": "The key {word} is missing: print the existing keys and compare.",
    rf"[Dd]id you mean:? {_WORD}": "Write `{word}`, if that was meant.",
    r"(?P<word>[\w.]{1,80}\(\)) missing \d{1,2} required positional arguments?: 'self'": "Create an object of the class first: `{word}` was called on the class itself.",
    r"(?P<word>[\w.]{1,80}\(\)) missing \d{1,2} required [\w-]{1,20} arguments?: (?P<other>'[^\n]{1,80})": "Call `{word}` with {other}; if it worked before, another version of the package is loaded.",
    r"(?P<word>[\w.]{1,80}\(\)) got an unexpected keyword argument (?P<other>'\w{1,60}')": "Call `{word}` without {other}, or load the version of the package that supports it.",
    r"codec can't (?:en|de)code": "Name the encoding: `open(..., encoding=\"utf-8\")`, and `export PYTHONIOENCODING=utf-8` in the job script.",
    r"cannot import name (?P<word>'\w{1,80}') from (?:partially initialized module )?'(?P<other>\w{1,60})": "`python -m pip show {other}` in the job's environment: this version has no {word}; install the version that the program was written for.",
    r"size mismatch for (?P<word>[\w.]{1,120}):[^\n]{0,60}shape (?P<have>torch\.Size\([^)]{1,60}\)) from checkpoint[^\n]{0,60} is (?P<other>torch\.Size\([^)]{1,60}\))": "Build the model as the checkpoint was: `{word}` is {have} in the checkpoint and {other} in the model.",
    r"shapes? (?P<have>\([\d, ]{1,60}\)),? (?:and )?(?P<other>\([\d, ]{1,60}\))": "Print the shapes right before that line: {have} and {other} do not match.",
    r"(?s)scalar types?: (?P<word>[\w, ]{1,60}); but got (?P<have>\w{1,60})": "Convert the argument first (`.to(dtype)`): {word} is required, {have} was given.",
    r"only supports? (?P<word>[\w ]{1,40}GPUs?)": "Request another kind of GPU (`sinfo -o '%20N %G'` lists them), or turn off the feature that supports only {word}.",
    rf"index (?P<have>{_COUNT}) is out of bounds for (?:axis|dimension) \d with size (?P<least>{_COUNT})": "Print the array's shape right before that line: it has {least} entries there and number {have} was requested; with 0 the step before produced none.",
    r"\bNCCL error\b": "Run once more with `export NCCL_DEBUG=WARN`: the line with `NCCL WARN` names the call and the device.",
    r"(?i)(?:see|check|look (?:in|at)|refer to)\b[^\n/]{0,40}\b(?:log|details?|output)\b[^\n/]{0,30}(?P<file>/[\w./@+-]{1,200}\w)": "Read {file}: it contains the program's reason.",
    # docs.python.org, tutorial, errors
    r"'(?P<have>NoneType)' object (?:has no attribute|is not) '?(?P<word>\w{1,60})": "Print the object before the dot or bracket of that line: it is None, so the call that created it returned nothing (a search without a result, a file that was not read).",
    r"'(?P<have>\w{1,40})' object has no attribute '(?P<word>\w{1,60})'": "Print the type and the value right before that line: it is a {have}, but an object with `{word}` was expected. If it is an object of a package, its version has no `{word}`: `python -m pip list` shows which one is loaded.",
    # mpi4py documentation, mpi4py.util.pkl5
    r"OverflowError: integer (?P<have>\d{10,19}) does not fit in 'int'": "MPI counts at most 2,147,483,647 items in one message, this one has {have}: send it in pieces, send a NumPy array with the upper-case calls (`Bcast`, `Send`), or use the communicator of `mpi4py.util.pkl5`.",
    rf"(?i)\b(?:l?stat|lstat) {_FILE}: no such file": "`ls -l {file}` on a compute node: correct the name, or put the file on a file system that these nodes mount.",
    # OpenFOAM, src/thermophysicalModels/specie/thermo/thermo/thermoI.H
    r"(?s)Maximum number of iterations exceeded: \d{1,6}\b.{0,2000}FOAM|FOAM.{0,2000}Maximum number of iterations exceeded: \d{1,6}\b": "OpenFOAM did not find the temperature of a cell from its energy: reduce the time step (`maxCo`), check the temperatures of the initial and boundary fields and their thermo coefficients, and limit the temperature (`fvOptions`, limitTemperature).",
    # GROMACS documentation, blowing up
    r"(?i)total potential energy is (?:-?nan|-?inf\w{0,5}|[-\d.e+]{5,24}), which is (?:not finite|extremely high)": "The system blew up: minimize it longer, start with a smaller time step, and look for overlapping atoms in the last frame before that step.",
    r"ZeroDivisionError: ": "Print the divisor right before that line: it is zero, such as the length of an empty list.",
}  # fmt: skip

# Confident messages whose text also contains advice.
_WORDED = ("FPE", "HYDRA-EXECVP", "SLURM-SUBMIT", "LIB-SYMBOL", "NEXTFLOW-ABORTED", "PY-FILE", "MPI-ARGUMENT")

# Additional facts from the lines of a cause and those around them.
_KNOWN = (
    r"\b(?:JOB|[Jj]ob|STEP|step|StepId=?)[ =]?(?P<job>\d{1,12})\b",
    r"line (?P<script_line>\d{1,6}): {1,3}[\w./]\S{0,200}: command not found",
    r"(?:Segmentation fault|Illegal instruction|Bus error|Aborted|Floating point exception) {1,12}(?:\(core dumped\) )?(?P<python>\S{0,120}python[\d.]{0,5} (?!-)[^\n$|>&]{1,120}\.py)\b",
    r"(?P<core>core dumped)",
    r"(?P<processors>More processors requested than permitted)",
    r"(?P<step_memory>Memory required by task is not available)",
    r"(?P<gpu_gb>[\d.]{1,8} GiB) total capacity;.{0,80}?(?P<free>[\d.]{1,8} [KMG]iB) free",
    r"mount source (?P<mount>\S{1,200}) doesn't exist",
    r"URL (?P<url>https?://[^\s'\"]{1,300}) returned error code",
    r"failed to execute: (?P<entry>\S{1,200}): No such file",
    r"Node failure on (?P<failed>[\w.,\[\]-]{1,200})",
    r"(?P<cache>/[^'\s]{1,200}/\.cache)/",
    r"(?P<packages>/[^'\s]{1,200}/(?:(?:ana|mini)conda\w{0,3}|miniforge\w{0,3}|\.conda))/",
    r"Unable to allocate (?P<size>[\d.]{1,12} [KMGTP]iB)",
    r"\((?P<used_kb>\d{4,15}) > (?P<granted_kb>\d{4,15})\)",
    r"total capac\w{0,3}y of (?P<gpu_gb>[\d.]{1,8} GiB) of which (?P<free>[\d.]{1,8} [KMG]iB)",
)

# The line of an exception.
_RAISED = re.compile(r"(?:\[rank\d{1,6}\]: )?[\w.]{0,80}(?:Error|Exception)\b")

# How far the last progress bar had come.
_BAR = re.compile(r"(?P<done>\d{1,12})/(?P<all>\d{1,12}) \[[\d:]{4,12}<(?P<left>[\d:]{4,12}),")

# A value in a rule's step, and a group of an expression.
_PLACE = re.compile(r"<(\w{1,30})>")
_GROUP = re.compile(r"\?P<(\w{1,30})>")

# Frames of stack traces from any source, innermost first except Python's.
_PYTHON = re.compile(r"\bFile \"(?P<file>[^\"]{1,300})\", line (?P<line>\d{1,7})")
_FRAMES = tuple(
    re.compile(text)
    for text in (
        r"(?:^|\s)#\d{1,3} {1,30}(?:0x[0-9a-f]{1,16} {1,30}in {1,30})?(?P<routine>[\w:~]{1,120})?.{0,200}? at {1,30}(?P<file>[^\s:()]{1,300}\.\w{1,5}):(?P<line>\d{1,7})",
        r"^\S{1,80} {1,30}[0-9A-F]{16} {1,30}(?P<routine>\w{1,120}) {1,30}(?P<line>\d{1,7}) {1,30}(?P<file>\S{1,300}\.\w{1,5})",
        r"^ {0,8}\d{1,3} {1,30}0x[0-9a-f]{1,16} {1,30}(?P<routine>[\w:~]{1,120})\(.{0,200}\) {1,30}(?P<file>/\S{1,300}\.\w{1,5}):(?P<line>\d{1,7})",
        r"panicked at [^\n]{0,200}?(?P<file>[\w./-]{1,200}\.rs):(?P<line>\d{1,7})",
        r"', (?P<file>/?[\w./-]{1,200}\.rs):(?P<line>\d{1,7})",
        r"(?i)\berror in (?P<file>[\w./-]{1,200}\.\w{1,5}) at line (?P<line>\d{1,7})",
        r"@ (?:\w{1,60} )?(?P<file>\S{1,300}\.jl):(?P<line>\d{1,7})",
        r"\bat (?P<file>/\S{1,300}\.jl):(?P<line>\d{1,7})",
        r"in expression starting at (?P<file>\S{1,300}\.jl):(?P<line>\d{1,7})",
        r"[Cc]heck script '(?P<file>[^']{1,200})' at line: (?P<line>\d{1,7})",
        r"\((?P<file>[\w.-]{1,80}\.nf):(?P<line>\d{1,7})\)",
        r"^\W{0,3}Error in (?P<file>\w{1,80})(?:/\w{1,80})? \(line (?P<line>\d{1,7})\)",
        r"^At line (?P<line>\d{1,7}) of file (?P<file>\S{1,300}\.\w{1,5})",
        r"\]? ?\[ ?\d{1,3}\] (?P<file>[^\s(]{1,300})\((?P<routine>\w{3,120})\+0x",
    )
)
# The first line of a numbered frame, and the line below it with its source; most lines from the last frame to a report
# of the end.
_NUMBERED = re.compile(r"\s{0,8}#(?P<number>\d{1,3})\s")
_SOURCE = re.compile(r"\s{1,16}at \S")
_BELOW_STACK = 8
# A file of a language, a library or the system, and a routine that only passes a failure on.
_FOREIGN = re.compile(
    r"(?:site|dist)-packages|spack-src/|/uct/|/lib(?:64)?/|\\Lib\\|^<|^/usr/|\.so\b|glibc|sysdeps|\.julia/|/julia/|^\w{1,80}\.jl$|\.p(?:yx|xi|xd)$|^\.\./|^\./\w{1,80}\.jl$|libgfortran|(?i:/mpich|/openmpi|ompi/|/ucx|/ucs/|/src/mpi|fds_|/gcc)"
)
_PASSES_ON = re.compile(
    r"(?i)abort|raise|signal|handler|backtrace|terminate|^_*start$|^main_*$|_err?$|^p?mpir?_|error|^exit$"
)


def advise(cause: Cause, evidence: Evidence) -> list[str]:
    """Return advice for a cause: remedies that helped with these words, steps for the items named, and the rule's
    steps.

    Parameters
    ----------
    cause : Cause
    evidence : Evidence
        Of the text that it was found in.

    Returns
    -------
    list of str
        At most two steps, the more concrete first; none where nothing is known.

    Examples
    --------
    >>> from hopperlib.failure.diagnosis.diagnosis import diagnose
    >>> diagnose([("job.err", "ERROR: cannot open input file grid.nc")]).cause.advice
    ['`ls -l grid.nc` in the folder where the job runs: correct the name, or put the file there first.']
    """
    rule = cause.rule
    generic = rule is None or rule.general or rule.strength == "weak"
    # Another exception near this one has a different subject.
    text = "\n".join(
        hit.text.strip()
        for hit in cause.hits[:_LINES]
        if hit is cause.hits[0] or rule is None or not _RAISED.match(hit.text)
    )
    facts = _facts(cause, text, evidence)
    may_name = generic or (rule is not None and rule.code in _WORDED)
    named = (_named(cause.hits[0].text) or _named(text)) if may_name else []
    return [*named, *_filled(rule, facts, scheduler_of(evidence), named=bool(named))][:_STEPS]


def _named(text: str) -> list[str]:
    """Return the step for the items named in a message."""
    for regex, step in _NAMED.items():
        if match := re.search(regex, text, re.MULTILINE):
            named = {name: value for name, value in match.groupdict().items() if value}
            either = named.get("other", "")
            return [step.format(**{"file": either, "url": either, "word": either} | named)]
    return []


def _filled(rule: Rule | None, facts: Mapping[str, str], scheduler: Scheduler, *, named: bool) -> list[str]:
    """Return a rule's steps with known values filled in, otherwise the general steps; if the words already give a step,
    only the location.
    """
    steps = rule.advice if rule else ("Begin at <place>: the innermost line of the program's source.",)
    steps = tuple(map(scheduler.speak, steps))
    may_be = {*facts, *_GROUP.findall(" ".join([*_KNOWN, _BAR.pattern, *(rule.regex if rule else ())]))}
    wanted = {step: may_be.intersection(_PLACE.findall(step)) for step in steps}
    if named:
        wanted = {step: names for step, names in wanted.items() if "place" in names}
    known = [step for step, names in wanted.items() if all(facts.get(name) for name in names)]
    here = [step for step in known if wanted[step]]
    return [_PLACE.sub(lambda name: facts.get(name[1], name[0]), step) for step in here or known]


def _facts(cause: Cause, text: str, evidence: Evidence) -> dict[str, str]:
    """Return the facts of a cause: its fields, other items in its lines, and the location in the program's source."""
    facts = {"place": _place(cause, evidence)} | dict.fromkeys(("used", "granted", "wanted"), "")
    for regex in _KNOWN:
        if match := re.search(regex, text):
            facts |= match.groupdict()
    bars = list(_BAR.finditer(evidence.files[cause.hits[0].file].tail.decode(errors="replace")))
    if bars and bars[-1]["done"] != bars[-1]["all"]:
        facts |= bars[-1].groupdict()
    if "used_kb" in facts:
        used, granted = (int(facts[name]) / _KB_PER_GB for name in ("used_kb", "granted_kb"))
        facts |= {"used": f"{used:.1f}", "granted": f"{granted:.1f}", "wanted": f"{used * _MARGIN + 0.5:.0f}"}
    if "jobid" in cause.fields:
        facts["job"] = cause.fields["jobid"].split(".")[0]
    return facts | {name: value for name, value in cause.fields.items() if value}


def _place(cause: Cause, evidence: Evidence) -> str:
    """Return the source line of the program that a nearby stack trace names; empty if there is none."""
    head = cause.hits[0]
    lines = [strip_label(line)[0].decode(errors="replace") for line in evidence.files[head.file].tail.split(b"\n")]
    at = next((place for place, line in enumerate(lines) if line.strip() and line.strip() in head.text), len(lines))
    above = lines[max(0, at - _STACK) : at] if at < len(lines) else list(head.before)
    calls = [frame for line in above for frame in _PYTHON.finditer(line) if not _FOREIGN.search(frame["file"])]
    if calls:
        return f"line {calls[-1]['line']} of {calls[-1]['file']}"
    below = [*(hit.text for hit in cause.hits[:_LINES]), *lines[at : at + _STACK], *above[-1:]]
    return _innermost(below) or _innermost(_last_stack(above))


def _innermost(lines: Sequence[str]) -> str:
    """Return the first location in the program's source among the frames in some lines; empty if there is none."""
    frames = (match for line in _joined(lines) for regex in _FRAMES if (match := regex.search(line)))
    return next(filter(None, map(_own, frames)), "")


def _joined(lines: Sequence[str]) -> list[str]:
    """Return lines with those of a frame joined: gfortran prints the source of a frame on the next line."""
    joined: list[str] = []
    for line in lines:
        if joined and _SOURCE.match(line) and _NUMBERED.match(joined[-1]):
            joined[-1] += " " + line.strip()
        else:
            joined.append(line)
    return joined


def _last_stack(above: Sequence[str]) -> Sequence[str]:
    """Return the lines from the innermost frame of the last stack above a message, if the stack ends close to it."""
    numbered = [place for place, line in enumerate(above) if _NUMBERED.match(line)]
    if not numbered or len(above) - numbered[-1] > _BELOW_STACK:
        return ()
    starts = [place for place in numbered if _NUMBERED.match(above[place])["number"] in ("0", "00")]  # type: ignore[index]
    return above[starts[-1] :] if starts else above[numbered[0] :]


def _own(frame: re.Match[str]) -> str:
    """Return the location of a frame in the program's source, unless it only passes a failure on."""
    known = {"line": "", "routine": ""} | {name: value or "" for name, value in frame.groupdict().items()}
    if _FOREIGN.search(known["file"]) or _PASSES_ON.search(known["routine"]):
        return ""
    if not known["line"]:
        return f"`{known['routine']}` in {known['file']}"
    routine = f" ({known['routine']})" if known["routine"] else ""
    return f"line {known['line']} of {known['file']}{routine}"
