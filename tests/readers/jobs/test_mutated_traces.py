"""Traces with bytes changed, lines doubled, fields swapped for strange ones: read or refused in one message, never worse."""

import json
import os
import random
import time

import pytest

from hopperkit.questions.question import load
from hopperkit.readers.hardware.cluster import read_cluster
from hopperkit.readers.jobs import read_job_trace
from hopperkit.readers.run_times import read_run_times
from hopperlib.errors import InputError
from hopperlib.scheduling.downtimes import read_downtimes
from hopperlib.scheduling.rules import read_queues

# HOPPER_MUTATIONS=10000 takes about a quarter of an hour.
MUTATIONS = int(os.environ.get("HOPPER_MUTATIONS", "40"))
SWF = "; MaxNodes: 16\n" + "".join(
    f"{n} {60 * n} {n % 7} {100 + n} {1 + n % 8} -1 -1 {1 + n % 8} 3600 -1 1 {n % 3} 1 1 {n % 2} -1 -1 -1\n"
    for n in range(1, 12)
)
SACCT = (
    "JobID|User|Partition|State|Submit|Eligible|Start|Elapsed|Timelimit|NNodes|AllocCPUS|AllocTRES|NodeList\n"
    + "".join(
        f"{n}{'_1' if n % 5 == 0 else ''}|u{n % 3}|p{n % 2}|COMPLETED|2024-01-01T00:{n:02d}:00|2024-01-01T00:{n:02d}:00|2024-01-01T01:{n:02d}:00|"
        f"00:10:0{n % 10}|1-00:00:00|{1 + n % 2}|{4 + 4 * (n % 2)}|cpu=4,gres/gpu=1,mem=4G|n[{n % 5}-{n % 5 + n % 2}]\n"
        for n in range(1, 12)
    )
)
EXPORT = "".join(
    f"{n}|{n}|c|p{n % 2}|q|a|g|1|u|1|2024-01-01T00:{n:02d}:00|2024-01-01T00:{n:02d}:00|2024-01-01T01:{n:02d}:00|2024-01-01T02:{n:02d}:00|"
    "01:00:00|0:0|COMPLETED|1|4|4|4Gn|cpu=4|cpu=4,mem=4G|02:00:00|n1|job\n"
    for n in range(1, 12)
)
JSON = json.dumps(
    {"jobs": [
        {"job_id": n, "user": "u", "partition": f"p{n % 2}", "state": {"current": ["COMPLETED"]}, "allocation_nodes": 1, "nodes": "n1",
         "time": {"submission": 1700000000 + 60 * n, "start": 1700003600, "elapsed": 600, "limit": {"set": True, "number": 30}},
         "tres": {"allocated": [{"type": "cpu", "count": 4}, {"type": "gres", "name": "gpu", "count": 1}]}}
        for n in range(1, 8)
    ]}
)  # fmt: skip
STRANGE = [
    "-1", "0", "9" * 30, "-" + "9" * 30, "1e308", "nan", "inf", "", " ", "|", ";", "\x00", "\ufeff", "\r", "\n", "[", "{", "[[", "n[1-999999999]",
    "2024-13-45T99:99:99", "0001-01-01T00:00:00", "9999-12-31T23:59:59", "1-2-3", "x" * 200_000, '"', "\ud800", "²", "٣", str(2**62), str(2**63),
]  # fmt: skip


def mutated(text, rng):
    """Change a text in a few places."""
    for _ in range(rng.randint(1, 4)):
        where = rng.randrange(len(text) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            text = text[:where] + chr(rng.choice([rng.randrange(128), rng.randrange(0x3000)])) + text[where + 1 :]
        elif kind == 1:
            text = text[:where] + text[where + rng.randint(1, 30) :]
        elif kind == 2:
            lines = text.splitlines(keepends=True) or [""]
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
            text = "".join(lines)
        else:
            # A field, or a number, becomes a strange one.
            fields = [word for word in text.replace("|", " ").replace(",", " ").split() if len(word) < 100]
            strange = rng.choice(STRANGE)
            text = text.replace(rng.choice(fields or ["x"]), strange, 1 if len(strange) > 100 else rng.choice([1, -1]))
    return text


def refusal_of(call, *arguments, **options):
    """Return the message of a refusal; empty for an answer."""
    try:
        call(*arguments, **options)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("text", [SWF, SACCT, EXPORT, JSON], ids=["swf", "sacct", "export", "json"])
def test_mutated_traces_are_read_or_refused(text):
    rng, question = random.Random(MUTATIONS), load("simulate")
    for number in range(MUTATIONS):
        changed = mutated(text, rng)
        begin = time.process_time()
        refusals = [
            refusal_of(question.run, trace=changed, nodes=16 * (number % 2)),
            refusal_of(read_job_trace, changed.encode("utf-8", errors="surrogatepass")),
        ]
        assert max(map(len, refusals)) < 2000
        assert time.process_time() - begin < 5


TABLES = {
    "cluster": (read_cluster, "NodeName=n1 CPUTot=8 Gres=gpu:a100:2(S:0) RealMemory=64000 Partitions=a,b\n\nPartitionName=a Nodes=n[1-3] PriorityTier=2\n"),
    "downtimes": (lambda text: read_downtimes(text.splitlines()), "kind,start_s,end_s,first_node,last_node\noutage,100,200,,\ndrain,300,900,0,32\n"),
    "queues": (read_queues, '[ours]\nqueue = [{name = "1", nodes = [1, 8], max_hours = 2, priority = 1}]\n'),
    "rules": (
        read_queues,
        '[ours]\norder = "multifactor"\n[ours.rules]\nage = 1000\nfair_share = 2.5\nmax_age_days = 3\n[ours.rules.qos_factors]\nhigh = 1.0\n[[ours.rules.limit]]\nper = "user"\njobs = 3\n',
    ),
    "run times": (read_run_times, "job;date;run_time_s\na;2024-01-01;10,5\na;2024-01-02;01:02:03\nb;2024-01-03;nan\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_mutated_tables_are_read_or_refused(name):
    rng, (reader, text) = random.Random(MUTATIONS), TABLES[name]
    for _ in range(MUTATIONS):
        changed, begin = mutated(text, rng), time.process_time()
        assert len(refusal_of(reader, changed)) < 2000
        assert time.process_time() - begin < 5


def test_numbers_beyond_all_moments():
    assert "at most 15 digits" in refusal_of(read_downtimes, ["kind,start_s,end_s", "outage,1," + "2" * 5000])
