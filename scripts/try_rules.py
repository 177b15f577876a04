"""Test a center's diagnosis rules on their samples: `python scripts/try_rules.py rules.toml`.

Exit status 1 and a line for each rule that is invalid, does not match one of its samples, or matches one that it must
not.
"""

import io
import os
import sys

from hopperlib.errors import InputError
from hopperlib.failure.messages.rules import read_rules, rule_texts
from hopperlib.failure.messages.scanner import Scanner


def main(file: str) -> int:
    """Try the rules of a file; return the exit status."""
    library = {rule.code for rule in read_rules(rule_texts())}
    os.environ["HOPPER_RULES"] = file
    try:
        rules = read_rules(rule_texts())
    except (OSError, InputError) as error:
        print(f"{file}: {error}", file=sys.stderr)
        return 1
    status = 0
    own = [rule for rule in rules if rule.code not in library]
    for rule in own:
        for sample in (*rule.positive, *rule.negative):
            scanner = Scanner(rules)
            scanner.read("sample", io.BytesIO(sample.encode()))
            taken = list(scanner.evidence.messages)
            if (rule.code in taken) != (sample in rule.positive):
                print(
                    f"{file}: {rule.code}: {sample!r} is taken for {' and '.join(taken) or 'no message'}",
                    file=sys.stderr,
                )
                status = 1
    if not status:
        print(f"{file}: all {len(own)} know their samples")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else "usage: python scripts/try_rules.py rules.toml")
