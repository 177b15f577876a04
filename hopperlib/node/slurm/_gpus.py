"""What srun's options ask of GPUs.

References
----------
SchedMD, srun man page: --gpus, --gpus-per-node, --gpus-per-task, --gpus-per-socket, --ntasks-per-gpu, --gres,
--tres-per-task, --gpu-bind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.launch.components import GpuRequest
from hopperlib.node.launch.option_values import hex_mask, repeated, whole_number
from hopperlib.node.launch.options import Given, count_of

_BIND_WORDS = "must be none, closest, single:N, per_task:N, or map: or mask: with a list"
_COUNTS = {
    "-G": "total",
    "--gpus-per-node": "per_node",
    "--gpus-per-task": "per_task",
    "--gpus-per-socket": "per_socket",
}


def read_gpus(options: Mapping[str, Given], node: NodeKind, machine: Machine) -> GpuRequest | None:
    """Return what the options ask of GPUs; None if nothing.

    >>> from hopperlib.machine import Machine
    >>> frontier = Machine.load("frontier")
    >>> given = {"--gpus-per-task": Given("--gpus-per-task", "--gpus-per-task", "1")}
    >>> read_gpus(given, frontier.node(), frontier)
    GpuRequest(per_node=None, total=None, per_task=1, per_socket=None, tasks_per_gpu=None, binding='per_task', number=1, \
entries=(), sharing=False)
    """
    counts: dict[str, Any] = {key: _count(options[name]) for name, key in _COUNTS.items() if name in options}
    for name in ("--gres", "--tres-per-task"):
        found = (
            re.search(r"(?:^|[,/])gpu(?:[:=][A-Za-z][\w.-]*)?(?:[:=](\d+))?(?:\(|,|$)", options[name].value)
            if name in options
            else None
        )
        if found:
            counts.setdefault("per_node" if name == "--gres" else "per_task", int(found[1] or 1))
    tasks_per_gpu = count_of(options, "--ntasks-per-gpu")
    typed = options.get("--gpu-bind")
    if not counts and tasks_per_gpu is None and typed is None:
        return None
    for name in ("per_node", "per_task"):
        if counts.get(name, 0) > node.gpus:
            option = next(
                options[each]
                for each in ("--gpus-per-node", "--gres", "--gpus-per-task", "--tres-per-task")
                if each in options
            )
            raise option.refusal(f"asks for more than the {node.gpus} GPUs of a node '{node.name}' of {machine.title}")
    if "per_socket" in counts:
        counts["per_socket"] *= node.sockets
    sharing = "--gres-flags" in options and "allow-task-sharing" in options["--gres-flags"].value
    request = GpuRequest(**counts, tasks_per_gpu=tasks_per_gpu, sharing=sharing)
    if typed is not None:
        return _bound(request, typed)
    if counts.get("per_task"):
        return request._replace(binding="per_task", number=counts["per_task"])
    return request._replace(binding="single", number=tasks_per_gpu) if tasks_per_gpu else request


def _count(option: Given) -> int:
    """Return a number of GPUs, of which a type may stand in front."""
    return sum(whole_number(option.typed, part.rpartition(":")[2], low=0) for part in option.value.split(","))


def _bound(request: GpuRequest, option: Given) -> GpuRequest:
    """Return the request with what ``--gpu-bind`` says."""
    text = re.sub(r"^(v|verbose|q|quiet),|^gres/gpu:", "", option.value)
    word, _, rest = text.partition(":")
    word = word.removesuffix("_gpu")
    if word in ("none", "closest") and not rest:
        return request._replace(binding=word)
    if word in ("single", "per_task") and rest:
        return request._replace(binding=word, number=whole_number(option.typed, rest))
    if word in ("map", "mask") and rest:
        entries = repeated(option.typed, rest)
        lists = tuple(hex_mask(option.typed, each) if word == "mask" else (int(each, 0),) for each in entries)
        return request._replace(binding=word, entries=lists)
    raise option.refusal(_BIND_WORDS)
