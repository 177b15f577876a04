#!/bin/sh
# Writes the lock files of Python (requirements*.lock) and package-lock.json anew: exact versions with
# environment markers, valid for every Python from 3.11 and every system, and without addresses.
#
#   sh scripts/lock.sh .venv [--upgrade ...]   further words go to uv; without --upgrade versions stay if they can
set -eu
cd "$(dirname "$0")/.."
venv=$1
shift
made=_build/lock.txt
[ -x "$venv/bin/uv" ] || { echo "hopper: 'make lock' needs uv, which could not be installed (details: $venv/install.log)" >&2; exit 1; }
mkdir -p _build

# From 4.25 on it compiles grammars at every start: `import nbformat`, and with it plotly in a notebook, takes 1.5 s of
# processor time instead of 0.2.
echo 'jsonschema<4.25' >_build/constraints.txt

# lock FILE FROM WORDS...: resolve what FROM asks for into FILE, under a line that says how it is made.
lock() {
    file=$1 from=$2
    shift 2
    "$venv/bin/uv" pip compile "$from" --universal --python-version 3.11 --quiet --no-annotate --no-header \
        --generate-hashes --no-emit-index-url --no-emit-find-links --output-file "$file" "$@" >/dev/null
    { echo "# Made by 'make lock' from pyproject.toml. Do not edit."; cat "$file"; } >"$made"
    cp "$made" "$file"
}

# What installs the others stands alone: pip fetches it first.
echo uv | lock requirements-uv.lock - "$@"
lock requirements.lock pyproject.toml --extra test --extra cluster --constraints _build/constraints.txt "$@"
# Wheels of darshan lag behind Python, so it is not part of the environment that everybody makes.
lock requirements-darshan.lock pyproject.toml --extra darshan --constraints requirements.lock "$@"
"$venv/bin/npm" install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts --no-audit --no-fund --loglevel=error
