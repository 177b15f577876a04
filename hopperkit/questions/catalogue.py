"""The list of questions: the module that answers each, and the question in one sentence.

It is a table of texts, so that the command line and the browser import only the requested question, and ``hopper
--help`` imports none.
"""

from hopperlib.errors import did_you_mean

# By package, in listing order: name -> question.
_ROOMS: dict[str, dict[str, str]] = {
    "node": {
        "machines": "What follows from the parts of a machine, and how do machines compare?",
        "place": "On which cores does a launch line put its tasks, what is wrong with that, and which line is better?",
        "memory": "Which layouts give each task the memory it needs, and which is the cheapest?",
        "hybrid": "How does run time change with the threads of a task, and which number is the fastest?",
    },
    "network": {
        "rank-order": "How many neighbors can a rank order bring together on a node?",
        "overlap": "How much faster does a step get when communication runs at the same time as computation?",
        "torus": "How far apart are the nodes of a job, depending on the order in which they are assigned?",
        "interconnect": "How much does a dragonfly, fat tree or torus slow a job's messages, depending on the job's placement and the routing?",
        "locality": "How many groups and switches did the jobs of a log occupy, what did each additional group cost, and is one group worth the wait?",
        "fragmentation": "Where does a job land on a machine that has run for days, and what would it cost to keep it in one piece?",
        "variability": "How long does MILC take on the nodes that it happens to get, and does any metric of its placement explain the time?",
        "scheduling": "How far do orphaned nodes and a debug queue with priority lower the utilization and delay the largest jobs?",
        "runs-needed": "How many runs of each variant do you need to show a gain of a given size in the noise of your run times?",
        "simulate": "How long do the jobs of a trace wait, how full is the machine, and how many pieces do they occupy?",
    },
    "storage": {
        "io-node": "How fast do the tasks of a few nodes write, and from how many tasks on do more of them not help?",
        "io-log": "Which rates are in the outputs of IOR, mdtest or IO500, what is slow in a Darshan log, and how can it be improved?",
        "iobuf": "How much faster does a program read or write with buffers, and which setting of IOBUF_PARAMS gives that?",
        "stripe": "How fast is a file written with a given stripe count, what limits it, and which command sets a better one?",
        "slow-ost": "How much does one slow OST delay a dump, how slow must it have been, and would a short probe have found it?",
        "load-time": "How long does a job take to load its shared libraries or Python modules, and what shortens it?",
        "chunks": "Which shape of chunks suits the way an HDF5 or NetCDF array is read, and which line rewrites the file?",
        "small-files": "What do a million small files cost, in creating, listing and reading them, and what is done instead?",
        "trillion": "How fast are many files written, how far apart do the OSTs finish, and is one shared file as fast?",
    },
    "failure": {
        "diagnose": "What made this job fail, who has to act, and what should be done?",
        "build": "Do these modules and this link line have a known problem, since when, and how is it solved?",
        "preflight": "Which nodes have less free memory than the job needs, or less than the others, before it starts?",
        "huge-pages": "How likely is it that all nodes of a job have the huge pages it needs, some days after a reboot?",
        "bad-nodes": "How likely is a job to hit a bad node, how much does that waste, and what is a check before the run worth?",
    },
    "monitoring": {
        "ssp": "How fast does a machine run a suite of benchmarks, and is it as fast as was promised?",
        "detection-delay": "How many runs, and days, pass before a lasting loss is noticed in noise like yours, and how often is there a false alarm?",
        "runs": "Why do runs of one program differ: one group, two, a drift, a few slow runs or noise, which column separates them, and which run should be made next?",
        "watch": "What changed in these benchmarks, when, by how much, how certain is that, and which part of the machine explains it?",
    },
    "files": {
        "identify": "What is this text, and what follows from it?",
    },
}

QUESTIONS: dict[str, str] = {
    name: f"hopperkit.questions.{room}.{name.replace('-', '_')}" for room, names in _ROOMS.items() for name in names
}


def sentences() -> dict[str, str]:
    """Return the question in one sentence, by name.

    Examples
    --------
    >>> sentences()["memory"]
    'Which layouts give each task the memory it needs, and which is the cheapest?'
    """
    return {name: text for names in _ROOMS.values() for name, text in names.items()}


def sentence(name: str) -> str:
    """Return a question by name, in one sentence.

    Parameters
    ----------
    name : str
        Name of the question, such as "memory".

    Raises
    ------
    KeyError
        If it is not in the catalogue: a new question must be added here.

    Examples
    --------
    >>> sentence("identify")[:4]
    'What'
    """
    if name not in sentences():
        raise KeyError(f"{name!r} is not in the catalogue of questions{did_you_mean(name, sentences())}")
    return sentences()[name]
