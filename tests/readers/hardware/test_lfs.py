"""Output of `lfs df` and `lfs getstripe -d`, in the forms of old and new releases."""

import pytest

from hopperkit.readers.hardware.lfs import read_lfs
from hopperlib.errors import InputError

HUMAN = """UUID                       bytes        Used   Available Use% Mounted on
scratch-MDT0000_UUID         2.5T      114.3G        2.3T   5% /scratch[MDT:0]
scratch-OST0000_UUID        61.4T       30.7T       30.1T  51% /scratch[OST:0]
scratch-OST000a_UUID        61.4T       30.7T       30.1T  51% /scratch[OST:10]
OST000b             : inactive device
filesystem_summary:       122.8T       61.4T       60.2T  51% /scratch
"""
PROGRESSIVE = """/scratch/me
  lcm_layout_gen:    0
  lcm_mirror_count:  1
  lcm_entry_count:   2
    lcme_id:             N/A
    lcme_extent.e_start: 0
    lcme_extent.e_end:   1073741824
      stripe_count:  1       stripe_size:   1048576       pattern:       raid0       stripe_offset: -1

    lcme_extent.e_start: 1073741824
    lcme_extent.e_end:   EOF
      stripe_count:  -1       stripe_size:   4194304       pattern:       raid0       stripe_offset: -1
"""


def test_sizes_for_people_and_an_inactive_target():
    state = read_lfs(HUMAN)
    assert (state.name, state.osts, state.inactive) == ("scratch", 2, (11,))
    assert state.used_percent == {0: 51, 10: 51}
    assert state.capacity_pb == pytest.approx(2 * 61.4 * 2**40 / 1e15)


def test_a_progressive_default():
    state = read_lfs(HUMAN + PROGRESSIVE)
    assert (len(state.components), state.stripe_count, state.stripe_size_bytes) == (2, -1, 4 << 20)
    assert [finding.code for finding in state.findings] == ["inactive-osts", "default-layout"]
    assert "New files get all OSTs, in the last of 2 components" in list(state.findings)[-1].message


def test_several_file_systems_and_other_text_are_refused():
    with pytest.raises(InputError, match="contains 2 file systems"):
        read_lfs(HUMAN + HUMAN.replace("scratch", "work"))
    with pytest.raises(InputError, match="is not the output of `lfs df`"):
        read_lfs("df: no such file")


def test_inodes_are_no_space_and_an_ost_that_does_not_answer_is_told():
    with pytest.raises(InputError, match="counts inodes and no space: give `lfs df` without -i"):
        read_lfs("UUID                      Inodes       IUsed       IFree IUse% Mounted on\n" + HUMAN)
    state = read_lfs(HUMAN + "\nOST000b             : Resource temporarily unavailable\n")
    assert 11 in state.inactive
