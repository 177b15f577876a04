"""``python -m hopperlib``: the same as the ``hopper`` command."""

from __future__ import annotations

from hopperlib.cli import main

if __name__ == "__main__":
    main()
