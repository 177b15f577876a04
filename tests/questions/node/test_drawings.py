"""Drawings of nodes: every core and task is described in words, and the reader's text is never markup."""

import dataclasses
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.placing import NodePlacement
from hopperkit.questions.node._sheet import _MARKS, _ON_TINT, _TINTS
from hopperkit.questions.node.drawings import node_drawing
from hopperlib.machine import Machine
from hopperlib.placement.binding import Binding

SVG = "{http://www.w3.org/2000/svg}"
HOPPER = Machine.load("hopper").node()


def on_node(kind, *tasks, first=0):
    """A node with one task for each tuple of CPUs."""
    pattern = []
    for cpus in tasks:
        cores = tuple(sorted({cpu % kind.cores for cpu in cpus}))
        numa_nodes = tuple(sorted({kind.numa_node_of(core) for core in cores}))
        own = tuple((core,) for core in cores)
        pattern.append(Binding(cores=cores, cpus=tuple(cpus), thread_cores=own, numa_nodes=numa_nodes, bound=True))
    return NodePlacement(node=0, component=0, task_numbers=range(first, first + len(pattern)), pattern=tuple(pattern))


def layers(drawing):
    """The drawing's layers by class, each with its texts."""
    root = ET.fromstring(drawing.svg)
    return {group.get("class"): [text.text for text in group.iter(f"{SVG}text")] for group in root.iter(f"{SVG}g")}


def tips(drawing):
    """The text on the boxes of cores."""
    root = ET.fromstring(drawing.svg)
    return [title.text for rect in root.iter(f"{SVG}rect") for title in rect.iter(f"{SVG}title")]


VASP = on_node(HOPPER, *[(core,) for core in range(12)])


def test_vasp_as_first_tried():
    drawing = node_drawing(HOPPER, VASP)
    assert drawing.title == "Node 0: 12 of 24 cores in use"
    assert drawing.alt == "NUMA node 0: tasks 0-5. NUMA node 1: tasks 6-11. NUMA node 2: idle. NUMA node 3: idle."
    found = layers(drawing)
    assert found["hopper-node-number"] == [str(task) for task in range(12)]
    assert found["hopper-node-idle-word"] == ["idle"] * 12
    # Every core has its label.
    assert [text for text in found["hopper-node-core"] if text.startswith("c") and text[1:].isdigit()] == [
        f"c{c}" for c in range(24)
    ]
    assert tips(drawing)[0] == "core 12: idle"  # idle boxes are painted before those in use


def test_the_drawing_is_an_image_with_title_and_description():
    drawing = node_drawing(HOPPER, VASP, title="Node 0 of 32: 12 tasks")
    root = ET.fromstring(drawing.svg)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "Node 0 of 32: 12 tasks"
    assert root.find(f"{SVG}title").text == "Node 0 of 32: 12 tasks"
    assert root.find(f"{SVG}desc").text == drawing.alt
    left, top, width, height = (float(part) for part in root.get("viewBox").split())
    assert (left, top, width) == (0, 0, 360)
    assert root.get("width") == "100%"
    for rect in root.iter(f"{SVG}rect"):
        assert float(rect.get("x")) + float(rect.get("width")) <= width
        assert float(rect.get("y")) + float(rect.get("height")) <= height


def test_threads_of_a_task_are_numbered():
    drawing = node_drawing(HOPPER, on_node(HOPPER, range(6), range(6, 12)))
    assert layers(drawing)["hopper-node-thread"] == [f"t{thread}" for thread in range(6)] * 2
    assert "core 7: task 1, thread 1" in tips(drawing)


def test_cores_that_tasks_share_are_said():
    drawing = node_drawing(HOPPER, on_node(HOPPER, (0,), (0,), (0, 1)))
    assert layers(drawing)["hopper-node-several"] == ["0-2"]
    assert "core 0: tasks 0-2" in tips(drawing)


def test_tasks_too_many_to_list_are_counted():
    drawing = node_drawing(HOPPER, on_node(HOPPER, *[(0,) if task % 2 else (1,) for task in range(24)], first=100))
    assert layers(drawing)["hopper-node-several"] == ["12 tasks", "12 tasks"]


def test_hardware_threads_have_a_box_each():
    kind = Machine.load("perlmutter").node()
    drawing = node_drawing(kind, on_node(kind, (0, 128), (1,), (129,)))
    said = tips(drawing)
    assert len(said) == 256
    assert "core 0, CPU 128: task 0" in said
    assert "core 1, CPU 129: task 2" in said
    assert len(drawing.svg) < 60_000


@pytest.mark.parametrize("name", Machine.names())
def test_every_machine_can_be_drawn(name):
    kind = Machine.load(name).node()
    drawing = node_drawing(kind)
    assert len(tips(drawing)) == kind.hardware_threads
    assert drawing.title == f"A node: {kind.cores} cores"
    assert [text for text in layers(drawing)["hopper-node-label"] if text.startswith("Socket")] == [
        f"Socket {socket}" for socket in range(kind.sockets)
    ]


def test_a_toy_node_with_an_odd_number_of_cores_keeps_to_its_lines():
    kind = dataclasses.replace(HOPPER, cores_per_numa_node=11)
    root = ET.fromstring(node_drawing(kind).svg)
    # 11 cores are drawn as 6 and 5, not as 8 and 3.
    lines = {rect.get("y") for rect in root.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None}
    assert len(lines) == 4 * 2


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff")))
def test_a_title_is_text_and_never_markup(title):
    drawing = node_drawing(HOPPER, VASP, title=title)
    root = ET.fromstring(drawing.svg)
    if title:
        assert root.find(f"{SVG}title").text == title


def test_colors_follow_the_page():
    drawing = node_drawing(HOPPER, VASP, title="var(--x)")
    assert "var(--hopper-ink, var(--pst-color-text-base, #1c2024))" in drawing.svg
    # A page may forbid styles in the document, so there are none.
    assert "<style" not in drawing.svg
    assert " style=" not in drawing.svg


def test_neighbors_differ_without_color_and_text_stands_out():
    def luminance(color):
        parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for tint in _TINTS:
        assert (luminance(tint) + 0.05) / (luminance(_ON_TINT) + 0.05) >= 8
    # 24 tasks of a Hopper node have 24 looks.
    assert len(set(_TINTS)) * len(set(_MARKS)) >= 24


MANY = [name for name in Machine.names() if Machine.load(name).node().cores_per_numa_node > 12]


@pytest.mark.parametrize("name", MANY)
def test_a_node_of_many_cores_is_drawn_in_bands_with_letters_that_can_be_read(name):
    """Shown 290 pixels wide, no letter is smaller than nine pixels, and none leaves its place."""
    kind = Machine.load(name).node()
    placed = on_node(kind, *[(core,) for core in range(0, kind.cores, 2)])
    root = ET.fromstring(node_drawing(kind, placed).svg)
    _, _, width, height = (float(part) for part in root.get("viewBox").split())
    sizes = {}
    for group in root.iter(f"{SVG}g"):
        for text in group.iter(f"{SVG}text"):
            sizes[text.text] = float(text.get("font-size") or group.get("font-size"))
    assert min(sizes.values()) * 290 / width >= 9
    # A letter is about six tenths as wide as it is high.
    for group in root.iter(f"{SVG}g"):
        for text in group.iter(f"{SVG}text"):
            half = 0.29 * sizes[text.text] * len(text.text)
            middle = group.get("text-anchor") == "middle"
            assert float(text.get("x")) + (half if middle else 2 * half) <= width + 3, text.text
    # Every other core has its task, and those between are idle.
    assert len([says for says in tips(node_drawing(kind, placed)) if ": task " in says]) == kind.cores / 2
    # Eight NUMA nodes fit beside an answer.
    assert height * 290 / width <= 400
    for rect in root.iter(f"{SVG}rect"):
        assert float(rect.get("x")) + float(rect.get("width")) <= width
        assert float(rect.get("y")) + float(rect.get("height")) <= height


def test_neighbors_of_one_task_have_its_number_once():
    kind = Machine.load("perlmutter").node("cpu")
    both = [(*range(first, first + 16), *range(first + 128, first + 144)) for first in range(0, 128, 16)]
    found = layers(node_drawing(kind, on_node(kind, *both)))
    assert found["hopper-node-number"] == [str(task) for task in range(8)]
    assert "hopper-node-idle-word" not in found
    # The first of its two hardware threads each: a number in one row, and a word in the other.
    first = layers(node_drawing(kind, on_node(kind, *[tuple(range(at, at + 16)) for at in range(0, 128, 16)])))
    assert first["hopper-node-number"] == [str(task) for task in range(8)]
    assert first["hopper-node-idle-word"] == ["idle"] * 8
