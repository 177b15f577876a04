#!/bin/sh
# Writes requirements.lock, requirements-darshan.lock and package-lock.json anew: exact versions with
# environment markers, valid for every Python from 3.11 and every system, and without addresses.
#
#   sh scripts/lock.sh .venv [--upgrade ...]   further words go to uv; without --upgrade versions stay if they can
set -eu
cd "$(dirname "$0")/.."
venv=$1
shift
tools=_build/lock

"$venv/bin/python" -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check uv

# lock FILE WORDS...: resolve pyproject.toml with these extras into FILE, under a line that says how it is made.
lock() {
    file=$1
    shift
    "$tools/bin/uv" pip compile pyproject.toml --universal --python-version 3.11 --quiet --no-annotate --no-header \
        --generate-hashes --no-emit-index-url --no-emit-find-links --output-file "$file" "$@" >/dev/null
    { echo "# Made by 'make lock' from pyproject.toml. Do not edit."; cat "$file"; } >"$tools/lock.txt"
    cp "$tools/lock.txt" "$file"
}

lock requirements.lock --extra test --extra cluster "$@"
# Wheels of darshan lag behind Python, so it is not part of the environment that everybody makes.
lock requirements-darshan.lock --extra darshan --constraints requirements.lock "$@"
"$venv/bin/npm" install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts --no-audit --no-fund --loglevel=error
