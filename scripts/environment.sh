#!/bin/sh
# Makes what the Makefile's commands run in; does nothing if it is there and up to date.
#
#   sh scripts/environment.sh python .venv    requirements.lock and this package, in .venv
#   sh scripts/environment.sh browser .venv   the pages' browser parts, in node_modules; npm comes with .venv
#
# PYTHON names the Python to use. Whatever is missing is named in one line.
set -eu

say() { printf 'hopper: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
has_venv() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }
version() { "$1" -c 'import platform; print(platform.python_version())' 2>/dev/null || echo 'not found'; }

# Print the Python that makes the environment: the one named, else the first that will do.
find_python() {
    candidates=${PYTHON:-python3.13 python3.12 python3.11 python3 python3.14 python}
    without_venv=''
    for candidate in $candidates; do
        if new_enough "$candidate"; then
            if has_venv "$candidate"; then
                command -v "$candidate"
                return
            fi
            without_venv=${without_venv:-$candidate}
        fi
    done
    [ -z "$without_venv" ] || stop "$without_venv cannot make environments: install python3-venv" \
        '(Debian and Ubuntu: apt install python3-venv, or python3-full)'
    [ -z "${PYTHON:-}" ] || stop "PYTHON=$PYTHON (version $(version "$PYTHON")) will not do: Python 3.11 or newer is needed"
    stop "no Python 3.11 or newer was found (python3: $(version python3));" \
        'install one (Debian and Ubuntu: apt install python3-full) or name one with PYTHON=/path/to/python3'
}

# End with one line about a failed installation, whose output is in the log.
report() {
    if grep -qiE 'NewConnectionError|ConnectTimeout|ReadTimeout|name resolution|ProxyError|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|unreachable' "$2"; then
        stop "no connection to $1: check the network or the proxy and try again (details: $2)"
    fi
    stop "$1: $(grep -iE 'error' "$2" | grep -v 'complete log' | tail -n 1) (details: $2)"
}

# The lock names every package, so there is nothing to resolve (--no-deps).
pip_install() { "$venv/bin/python" -m pip install --quiet --no-input --disable-pip-version-check --no-deps "$@"; }

make_python() {
    if [ -d "$venv" ] && [ ! -f "$venv/pyvenv.cfg" ] && ! new_enough "$venv/bin/python"; then
        stop "VENV=$venv is no environment of Python 3.11 or newer"
    fi
    if [ -f "$venv/pyvenv.cfg" ] && [ -n "${PYTHON:-}" ] && [ "$(version "$PYTHON")" != "$(version "$venv/bin/python")" ]; then
        say "$venv is Python $(version "$venv/bin/python"), and PYTHON is $(version "$PYTHON"): making it anew"
        rm -f "$venv/bin/python"
    fi
    if ! new_enough "$venv/bin/python" || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        python=$(find_python)
        "$python" -m venv --clear "$venv" || stop "$python could not make an environment in $venv"
    fi
    stamp=$venv/hopper-environment
    wanted=$(cksum requirements.lock pyproject.toml)
    [ "$(cat "$stamp" 2>/dev/null || true)" != "$wanted" ] || return 0

    say "installing the packages of requirements.lock into $venv (once, a few minutes)"
    log=$venv/install.log
    pip_install -r requirements.lock >"$log" 2>&1 || report 'the Python package index' "$log"
    pip_install --no-build-isolation --editable . >>"$log" 2>&1 ||
        stop "hopperlib itself could not be installed: $(grep -E 'Error' "$log" | tail -n 1) (details: $log)"
    printf '%s\n' "$wanted" >"$stamp"
}

make_browser() {
    stamp=node_modules/hopper-environment
    wanted=$(cksum package.json package-lock.json)
    [ "$(cat "$stamp" 2>/dev/null || true)" != "$wanted" ] || return 0
    say 'installing the browser parts of package-lock.json into node_modules'
    log=$venv/install-browser.log
    # Trust what the system trusts, as pip may: many sites look into encrypted connections with their own certificate.
    NODE_USE_SYSTEM_CA=1 "$venv/bin/npm" ci --ignore-scripts --no-audit --no-fund --loglevel=error >"$log" 2>&1 ||
        report 'the npm registry' "$log"
    printf '%s\n' "$wanted" >"$stamp"
}

[ $# -eq 2 ] || stop 'usage: sh scripts/environment.sh python|browser FOLDER'
cd "$(dirname "$0")/.."
venv=$2
case $1 in
    python) make_python ;;
    browser) make_browser ;;
    *) stop "unknown part '$1': python or browser" ;;
esac
