"""``python -m hopperkit``: the same as the ``hopper`` command."""

from hopperkit.cli import main

if __name__ == "__main__":
    main()
