"""The questions on the placement of jobs on a machine, and on its scheduler: defaults, examples, refusals, size."""

import json
import re
from pathlib import Path

import pytest

from hopperkit.questions.network import fragmentation, scheduling
from hopperkit.questions.question import load
from hopperkit.render.answer import answer_json, watched_at
from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.network.torus.orders import compute_nodes
from hopperlib.scheduling.aging import troubled_machine

MACHINES = Path(__file__).resolve().parents[3] / "hopperlib" / "machines"


@pytest.mark.parametrize("name", ["torus", "fragmentation", "scheduling"])
def test_default_is_small_enough_and_repeats(name):
    answers = [answer_json(name, "{}") for _ in range(2)]
    assert answers[0] == answers[1]
    assert json.loads(answers[0])["ok"]
    assert len(answers[0]) < 150_000


def test_torus_of_an_empty_and_a_busy_machine():
    empty, busy = load("torus").run(), load("torus").run(busy_fraction=0.9)
    assert empty.facts["runs"] == 1
    assert (empty.facts["job_nodes"], empty.facts["first_position"]) == (342, 0)
    assert busy.facts["runs"] > 10
    assert busy.facts["mean_hops"] > empty.facts["mean_hops"]
    with pytest.raises(InputError, match="nodes=3000 must be at most"):
        load("torus").run(nodes=3000, busy_fraction=0.9)


def test_fragmentation_keeps_a_probe_whole_only_if_told_to():
    first = load("fragmentation").run(days=4)
    whole = load("fragmentation").run(days=4, allocation="contiguous")
    assert first.facts["max_runs"] > 1 == whole.facts["max_runs"]
    assert first.facts["hops_later"] > whole.facts["hops_later"]


def test_debug_first_keeps_the_largest_jobs_waiting():
    run = load("scheduling").run
    first, limited = (run(days=8, debug_share=0.2, debug_first=way).facts["wait_h"] for way in ("first", "limited"))
    assert first > limited
    orphans = run(days=6, orphans_a_day=30)
    assert orphans.facts["orphaned_fraction"] > 0.05
    assert orphans.facts["debug_share"] == 0.1
    # The hours without service were fitted to the printed utilization: what they give is no prediction.
    (of_all,) = (one for one in orphans.values if one.label == "Utilization, by all hours")
    assert of_all.badge == "calibrated"


def test_neighbors_slow_the_exchange_of_a_job_and_nothing_else_does():
    run = load("torus").run
    empty, alone, busy, double = (
        run(nodes=171, order="xyz-by2", **values).facts
        for values in (
            {},
            {"busy_fraction": 0.8, "traffic": "none"},
            {"busy_fraction": 0.8},
            {"busy_fraction": 0.8, "traffic": "double"},
        )
    )
    assert empty["alone_gb_s"] == empty["exchange_gb_s"] <= 6.0
    assert alone["exchange_gb_s"] == alone["alone_gb_s"] == busy["alone_gb_s"]
    assert double["exchange_gb_s"] <= busy["exchange_gb_s"] < alone["exchange_gb_s"]
    # Links whose bandwidth is not known, and one node that has nobody to talk to.
    unknown = run(machine_file=_toy(without="link_bandwidth_gb_s"), nodes=9).facts
    assert unknown["exchange_gb_s"] is unknown["bisection_gb_s"] is run(nodes=1).facts["exchange_gb_s"] is None
    assert run(floor="titan").facts["exchange_gb_s"] > 0


def test_what_is_known_before_the_whole_is_the_beginning_of_it():
    """The map after the first of three days is a third of the whole map, column by column; before it nothing was busy."""
    question = load("fragmentation")
    begins, first = question.partial(days=3, seed=77)
    assert not any(map(any, begins.figures[0].data[0]["z"]))
    whole = question.run(days=3, seed=77)
    drawn, expected = (result.figures[0].data[0]["z"] for result in (first, whole))
    assert (len(drawn[0]), len(expected[0])) == (28, 84)
    assert drawn == [line[:28] for line in expected]
    assert first.figures[0].layout["xaxis"]["range"] == whole.figures[0].layout["xaxis"]["range"] == [0, 3]
    # It is at hand now: nothing is drawn before it.
    assert not list(question.partial(days=3, seed=77))


@pytest.mark.parametrize(
    ("module", "first", "second", "dear"),
    [
        (fragmentation, {"days": 2}, {"days": 3}, ("moments", "occupancy_figure")),
        (scheduling, {"days": 4}, {"days": 5}, ("troubled_days", "large_jobs")),
    ],
)
def test_a_move_there_and_back_works_nothing_out_again(monkeypatch, module, first, second, dear):
    question = module.QUESTION
    answers = [question.run(**setting).to_dict() for setting in (first, second)]
    for name in dear:
        monkeypatch.setattr(module, name, None)
    assert [question.run(**setting).to_dict() for setting in (first, second)] == answers


def test_a_page_is_shown_what_is_known():
    shown = []
    settings = {"days": 4, "orphans_a_day": 20}
    whole = json.loads(answer_json("scheduling", json.dumps(settings), lambda *posted: shown.append(posted)))
    (first, begins), (word, known), (last, answer) = ((word, json.loads(text)) for word, text in shown)
    assert (first, word, last, answer) == ("soFar", "soFar", "answer", whole)
    assert begins["summary"] == "Day 0 of 4 …"
    assert re.fullmatch(r"After 2 days of 4: \d+ % of the machine used so far, \d+ jobs? waiting …", known["summary"])
    (early,) = known["figures"]
    (full,) = (figure for figure in whole["result"]["figures"] if figure["title"] == early["title"])
    for line, longer in zip(early["figure"]["data"][:2], full["figure"]["data"], strict=False):
        assert line["y"] == longer["y"][: len(line["y"])]
    for refused in ('{"days": 400}', '{"none": 1}'):
        assert not json.loads(answer_json("scheduling", refused, lambda *posted: shown.append(posted)))["ok"]
    assert [word for word, _ in shown] == ["soFar", "soFar", "answer", "answer", "answer"]


def test_a_watched_machine_is_that_of_the_schedule():
    """Orphans and jobs share no node, and together they agree with the records of the machine."""
    settings = {"days": 4, "orphans_a_day": 20, "cleared_after_days": 2}
    posted = []
    answer_json("scheduling", json.dumps(settings), lambda *part: posted.append(part), 7)
    assert [word for word, _ in posted] == ["soFar", "soFar", "machine", "answer", "machine"]
    early, whole = (json.loads(text) for word, text in posted if word == "machine")
    assert (early["end_s"], whole["from_s"], whole["until_s"]) == (2 * 86_400, 2 * 86_400, 4 * 86_400)
    schedule = troubled_machine(
        6384, 4, debug_share=0.1, debug_first=True, full_nodes=6100, orphans_a_day=20, cleared_after_days=2
    )
    sample = next(sample for sample in schedule.samples if sample.time_s > 3 * 86_400)
    held, gone = set(), set()
    for number, start_s, end_s, runs, *_ in whole["held"]:
        if start_s <= sample.time_s < end_s:
            nodes = {at for low, high in runs for at in range(low, high)}
            assert not nodes & (held | gone)
            (held if number > 0 else gone).update(nodes)
    assert (len(held), len(gone)) == (sample.busy_nodes, sample.unavailable_nodes)
    assert whole["follow"] == [100_001]
    # The first days again, and nothing of what was never asked for.
    assert json.loads(watched_at(7, "recording", 0))["held"] != whole["held"]
    assert watched_at(8, "links", 0) == '""'


def test_links_are_full_where_the_busy_nodes_send():
    quiet, loud = (json.loads(_watched_torus(traffic)) for traffic in ("none", "double"))
    assert len(quiet) == len(loud) == 3 * 17 * 8 * 24
    assert all(a <= b for a, b in zip(quiet, loud, strict=True) if a == "0")
    assert sum(map(int, loud)) > sum(map(int, quiet)) > 0


def _watched_torus(traffic):
    posted = []
    values = json.dumps({"busy_fraction": 0.5, "traffic": traffic})
    answer_json("torus", values, lambda *part: posted.append(part), 9)
    recorded = json.loads(posted[-1][1])
    assert sum(high - low for low, high in recorded["held"][0][3]) == 342
    return watched_at(9, "links", 0)


def _toy(without=""):
    """The text of a reader's machine file, without one of its tables or keys."""
    text = (MACHINES / "toy.toml").read_text(encoding="utf-8").replace('name = "toy"', 'name = "mine"')
    return (
        re.sub(rf"^(\[network\.{without}\]\n([^\[\n].*\n)*|{without} = .*\n)", "", text, flags=re.MULTILINE)
        if without
        else text
    )


def _watched_machine(name, **values):
    posted = []
    answer_json(name, json.dumps(values), lambda *part: posted.append(part), 11)
    return json.loads(posted[-1][1]), posted[-1][0]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("torus", {"nodes": 10, "busy_fraction": 0.5}),
        ("fragmentation", {"days": 2, "probe_nodes": 10}),
        ("scheduling", {"days": 4}),
    ],
)
def test_a_machine_of_ones_own_is_watched_on_its_floor(name, values):
    recorded, word = _watched_machine(name, machine_file=_toy(), **values)
    assert word == "machine"
    floor, mine = recorded["floor"], Machine.from_toml(_toy())
    assert (recorded["machine"], floor["dimensions"], len(floor["x"])) == (mine.title, [3, 4, 4], mine.nodes)
    assert max(high for held in recorded["held"] for _, high in held[3]) <= mine.nodes
    assert len(json.loads(watched_at(11, "links", 3600))) == 3 * 3 * 4 * 4
    # Hopper's the pages have.
    if name == "torus":
        assert _watched_machine(name)[0]["floor"] is None


def test_a_machine_without_a_floor_is_told_of():
    perlmutter = (MACHINES / "perlmutter.toml").read_text(encoding="utf-8")
    for name in ("torus", "fragmentation"):
        with pytest.raises(InputError, match="states no floor"):
            load(name).run(machine_file=perlmutter)
    # The scheduler needs no torus to answer, and no picture of it comes.
    shown, word = _watched_machine("scheduling", machine="perlmutter", days=4)
    assert word == "machine"
    assert "states no floor" in shown["why"]
    assert load("scheduling").run(machine="perlmutter", days=4).facts["wait_h"] >= 0


def test_a_probe_is_held_by_the_machine():
    with pytest.raises(InputError, match="probe_nodes=342 must be from 1 to 92") as refused:
        load("fragmentation").run(machine_file=_toy(), days=2)
    assert refused.value.name == "probe_nodes"
    # The largest jobs are cut to the machine, as the others are.
    assert "a job of 92 nodes" in load("scheduling").run(machine_file=_toy(), days=4).summary


@pytest.mark.parametrize(("name", "nodes"), [("hopper", 6384), ("titan", 18_688)])
def test_every_offered_floor_holds_its_nodes(name, nodes):
    machine = Machine.load(name)
    for question in ("torus", "fragmentation"):
        (control,) = (control for control in load(question).controls if control.name == "floor")
        assert name in [value for value, _ in control.offered()]
    assert len(compute_nodes(machine)) == machine.nodes == nodes


def test_only_the_last_histories_are_kept(monkeypatch):
    question = load("fragmentation")
    monkeypatch.setattr(fragmentation, "_MAX_KEPT", 2)
    for seed in range(900, 903):
        question.run(days=2, seed=seed)
    assert len(fragmentation._SCHEDULES) == 2
    assert not list(question.partial(days=2, seed=902))
    assert list(question.partial(days=2, seed=900))
