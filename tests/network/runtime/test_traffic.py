"""Communication graphs and the distances of their messages."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.network.runtime.traffic import (
    all_reduce_tree,
    grid_dimensions,
    hops_of_graph,
    nearest_neighbors,
)
from hopperlib.network.torus.distances import Torus

TORUS = Torus((4, 3, 5))
PLACES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 4)), min_size=12, max_size=12)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(1, 6))
def test_neighbors_against_a_walk_over_coordinates(dimensions, per_node):
    places = [()]
    for side in dimensions:
        places = [(*place, step) for place in places for step in range(side)]
    number = {place: task for task, place in enumerate(places)}
    edges = set()
    for place in places:
        for axis, side in enumerate(dimensions):
            other = number[(*place[:axis], (place[axis] + 1) % side, *place[axis + 1 :])]
            if other != number[place]:
                edges.add((axis, *sorted((number[place], other))))
    wanted = Counter(
        tuple(sorted((a // per_node, b // per_node))) for _, a, b in edges if a // per_node != b // per_node
    )
    assert nearest_neighbors(dimensions, per_node) == wanted


@given(st.integers(1, 200))
def test_a_tree_reaches_every_node_once(nodes):
    tree = all_reduce_tree(nodes)
    assert len(tree) == nodes - 1
    assert {b for _, b in tree} == set(range(1, nodes))


@given(PLACES)
def test_hops_of_all_messages(places):
    graph = nearest_neighbors((3, 4), 1)
    apart = [[TORUS.hops(a, b) for b in places] for a in places]
    assert hops_of_graph(graph, places, TORUS) == sum(count * apart[a][b] for (a, b), count in graph.items())


@given(st.integers(1, 10_000), st.integers(1, 4))
def test_a_grid_holds_all_tasks(tasks, axes):
    product = 1
    for side in grid_dimensions(tasks, axes):
        product *= side
    assert product == tasks


def test_milc_on_its_nodes():
    # 8,192 tasks on 342 nodes of 24; every task has 8 neighbors, so 32,768 pairs, some of them within a node.
    graph = nearest_neighbors(grid_dimensions(8192), 24)
    assert max(b for _, b in graph) == 341
    assert 20_000 < sum(graph.values()) < 32_768


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: grid_dimensions(0), "tasks=0"),
        (lambda: nearest_neighbors((0, 2), 1), "must be at least 1"),
        (lambda: all_reduce_tree(0), "nodes=0"),
        (lambda: hops_of_graph({(0, 5): 1}, [(0, 0, 0)], TORUS), "names node 5 of the job, but only 1 places"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
