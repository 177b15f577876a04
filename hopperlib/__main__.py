"""``python -m hopperlib``: the same as the ``hopper`` command."""

from hopperlib.cli import main

if __name__ == "__main__":
    main()
