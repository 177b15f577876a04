"""``lfs df``: the Lustre file systems that a node mounts, as a machine file has them."""

from __future__ import annotations

import re

from hopperlib.readers.hardware._facts import guessed, told
from hopperlib.readers.hardware._record import Hardware
from hopperlib.readers.lfs import read_lfs

TARGET = re.compile(r"^(\S{1,80}?)-(?:OST|MDT)[0-9a-fA-F]{4}", re.MULTILINE)


def read_lustre(text: str) -> tuple[Hardware, ...]:
    """Read ``lfs df``, perhaps with ``lfs getstripe -d`` behind it; one record for each file system.

    Examples
    --------
    >>> (scratch,) = read_lustre("scratch-OST0000_UUID 1000000000 660000000 330000000 66% /scratch[OST:0]")
    >>> scratch.model, scratch.facts["osts"].value, scratch.facts["peak_gb_s"].badge
    ('scratch', 1, 'assumed')
    """
    names = list(dict.fromkeys(TARGET.findall(text)))
    lines = text.splitlines()
    records = []
    for name in names:
        own = (line for line in lines if (found := TARGET.match(line)) is None or found[1] == name)
        state = read_lfs("\n".join(own))
        count = state.osts if state.stripe_count == -1 else state.stripe_count
        layout = {"default_stripe_count": count or 1, "default_stripe_size_bytes": state.stripe_size_bytes or 2**20}
        facts = {
            **told("lfs", "df, OSTs listed", osts=state.osts),
            **guessed("lfs df does not tell the servers; one for each OST", osts_per_oss=1),
            **guessed("no tool tells; 1 GB/s for each OST; measure it with IOR", peak_gb_s=float(state.osts)),
            **told("lfs", "df, the sizes of the OSTs added up", capacity_pb=round(state.capacity_pb, 6)),
            **(
                told("lfs", "getstripe -d", **layout)
                if count
                else guessed("Lustre's own default; lfs getstripe -d of a folder tells the site's", **layout)
            ),
            **guessed("a file has one stripe on each OST at most", max_stripe_count=min(state.osts, 2000)),
            **guessed("no tool tells; measure it with IOR on one node", node_write_ceiling_gb_s=min(2.0, state.osts)),
        }
        label = re.sub(r"[^A-Za-z0-9_-]", "-", name).strip("-_") or "lustre"
        records.append(Hardware(tool="lfs", facts=facts, model=label))
    return tuple(records)
