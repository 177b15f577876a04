"""The account of lines that were not taken."""

from hopperkit.readers.table import Skips


def test_messages_count_by_reason_and_name_the_first_line():
    skips = Skips()
    for line in (1200, 1300):
        skips.add("run time unknown", line)
    skips.add("processors unknown", 5)
    assert skips.total == 3
    assert skips.messages() == [
        "2 jobs skipped, run time unknown (first at line 1,200)",
        "1 job skipped, processors unknown (first at line 5)",
    ]
