"""Launch lines in here-documents and in strings of Python."""

import pytest

from hopperkit.launchers import read_script
from hopperkit.launchers.review import review_lines
from hopperkit.launchers.words.embedded import embedded_text
from hopperkit.launchers.words.shell import Edit
from hopperlib.errors import InputError
from hopperlib.machine import Machine

SBATCH = """#!/bin/bash
sbatch <<'EOF'
#!/bin/bash
#SBATCH -N 2 --ntasks-per-node=4
srun -c 2 ./a.out > log
EOF
"""


@pytest.mark.parametrize(
    ("text", "line", "number"),
    [
        (SBATCH, "srun -c 2 ./a.out", 5),
        ("cat > run.sh <<EOF\nexport OMP_NUM_THREADS=4\nsrun -n 4 ./a\nEOF\nsbatch run.sh", "srun -n 4 ./a", 3),
        ("cat <<-'END' | sbatch\n\tmpirun -np 8 ./a\n\tEND\n", "mpirun -np 8 ./a", 2),
        ('import os\nos.system("srun -n 16 vasp_std")\n', "srun -n 16 vasp_std", 2),
        ("import subprocess\nsubprocess.run(['srun', '-n', '4', './a'], check=True)\n", "srun -n 4 ./a", 2),
        ("python - <<'EOF'\nimport os\nos.environ['X'] = '1'\nos.system('srun -n 2 ./a')\nEOF\n", "srun -n 2 ./a", 4),
        ("command = 'mpirun -np 4 pw.x -in PREFIX.pwi > PREFIX.pwo'\ncalc = Espresso(command=command)\n", "mpirun -np 4 pw.x -in PREFIX.pwi", 1),
    ],
)  # fmt: skip
def test_a_literal_line_is_read_where_it_is(text, line, number):
    (found,) = read_script(text).lines
    assert (found.text, found.line) == (line, number)


def test_directives_of_a_here_document_count():
    script = read_script(SBATCH)
    assert [(each.option, each.line) for each in script.directives] == [("-N", 4), ("--ntasks-per-node", 4)]
    (review,) = review_lines(SBATCH, Machine.load("cluster"))
    assert review.placement.launch.tasks == 8


def test_a_line_in_a_here_document_is_edited_in_place():
    script = read_script(SBATCH)
    end = script.text.index("./a.out")
    changed = script.edited([Edit(end, end, "--exact ")])
    assert changed.text == SBATCH.replace("./a.out", "--exact ./a.out")
    assert changed.lines[0].text == "srun -c 2 --exact ./a.out"


def test_what_is_not_literal_is_named():
    for text in ('os.system(f"srun -n {tasks} ./a")', 'run(["srun", "-n", str(tasks), "./a"])'):
        with pytest.raises(InputError, match="this text does not set"):
            review_lines(text, Machine.load("cluster"))


@pytest.mark.parametrize(
    "text",
    [
        'echo "srun -n 4 ./a"\n',
        'print("srun -n 4 ./a")\n',
        "# run('srun -n 4 ./a')\n",
        'logger.info("srun -n 4 ./a failed")\n',
        "cat <<EOF\nsrun -n 4 ./a\nEOF\n",
    ],
)
def test_what_is_printed_is_no_line(text):
    assert not embedded_text(text)
    assert not read_script(text).lines


def test_a_line_of_the_text_itself_goes_before():
    text = "cat > in <<EOF\nsrun -n 8 ./other\nEOF\nsrun -n 4 ./a < in\n"
    assert [line.text for line in read_script(text).lines] == ["srun -n 4 ./a"]


def test_many_strings_end_soon():
    bomb = 'x("srun ' + "'" * 300 + '"(["srun",' + '"-n",' * 100
    assert len(bomb) < 1024
    assert not read_script(bomb).lines
    assert not embedded_text("<<E\n" * 200)
