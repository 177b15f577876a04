#!/bin/sh
# Makes what the Makefile's commands run in; does nothing if it is there and up to date.
#
#   sh scripts/environment.sh python .venv    requirements.lock, hopperlib and hopperbook, in .venv
#   sh scripts/environment.sh darshan .venv   requirements-darshan.lock too
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

pip() { "$venv/bin/python" -m pip --no-input --disable-pip-version-check "$@"; }

# What pip was told of the package index holds for uv, which reads other files. What uv was told itself comes first.
tell_uv() {
    told=$(pip config list 2>/dev/null || true)
    set_of_pip() { printf '%s\n' "$told" | sed -nE "s/^(:env:|global|install)\.$1='(.*)'\$/\2/p" | head -n 1 | sed 's/\\n/ /g'; }
    index=$(set_of_pip index-url) more=$(set_of_pip extra-index-url) folders=$(set_of_pip find-links)
    hosts=$(set_of_pip trusted-host) certificate=$(set_of_pip cert)
    [ -z "$index" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$index}"
    [ -z "$more" ] || export UV_INDEX="${UV_INDEX:-$more}"
    [ -z "$folders" ] || export UV_FIND_LINKS="${UV_FIND_LINKS:-$(printf '%s' "$folders" | tr ' ' ',')}"
    [ -z "$hosts" ] || export UV_INSECURE_HOST="${UV_INSECURE_HOST:-$hosts}"
    [ -z "$certificate" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$certificate}"
    # Trust what the system trusts, as pip does, and take a version from whichever index has it: hashes say which is meant.
    export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-true}" UV_INDEX_STRATEGY="${UV_INDEX_STRATEGY:-unsafe-best-match}"
}

# Have uv, which installs in seconds what takes pip minutes. Where it cannot be had, or used, pip does.
have_uv() {
    grep -q "^uv==$("$venv/bin/uv" --version 2>/dev/null | cut -d ' ' -f 2) " requirements-uv.lock ||
        pip --retries 1 install --quiet --no-deps --only-binary :all: --require-hashes -r requirements-uv.lock >>"$log" 2>&1
}

# The lock names every package, so there is nothing to resolve (--no-deps).
install() {
    if [ -n "$uv" ]; then
        ! "$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --no-deps "$@" >>"$log" 2>&1 || return 0
        uv=''
        say "uv could not install this, so pip does, which takes some minutes (details: $log)"
    fi
    pip install --quiet --no-deps "$@" >>"$log" 2>&1
}

# Set what `install` works with.
begin() {
    log=$venv/install.log
    : >"$log"
    tell_uv
    uv=yes
    have_uv || {
        uv=''
        say "uv could not be installed, so pip installs the packages, which takes some minutes (details: $log)"
    }
}

make_python() {
    if [ -d "$venv" ] && [ ! -f "$venv/pyvenv.cfg" ] && ! new_enough "$venv/bin/python"; then
        stop "VENV=$venv is no environment of Python 3.11 or newer"
    fi
    if [ -f "$venv/pyvenv.cfg" ] && [ -n "${PYTHON:-}" ] && [ "$(version "$PYTHON")" != "$(version "$venv/bin/python")" ]; then
        say "$venv is Python $(version "$venv/bin/python"), and PYTHON is $(version "$PYTHON"): recreating it"
        rm -f "$venv/bin/python"
    fi
    if ! new_enough "$venv/bin/python" || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        python=$(find_python)
        "$python" -m venv --clear "$venv" || stop "$python could not make an environment in $venv"
    fi
    stamp=$venv/hopper-environment
    wanted=$(cksum requirements.lock pyproject.toml book/pyproject.toml)
    [ "$(cat "$stamp" 2>/dev/null || true)" != "$wanted" ] || return 0

    say "installing the packages of requirements.lock into $venv (once)"
    begin
    install --require-hashes -r requirements.lock || report 'the Python package index' "$log"
    install --no-build-isolation --editable . --editable ./book ||
        stop "hopperlib and hopperbook could not be installed: $(grep -E 'Error' "$log" | tail -n 1) (details: $log)"
    printf '%s\n' "$wanted" >"$stamp"
}

make_darshan() {
    begin
    install --require-hashes -r requirements-darshan.lock || report 'the Python package index' "$log"
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

[ $# -eq 2 ] || stop 'usage: sh scripts/environment.sh python|darshan|browser FOLDER'
cd "$(dirname "$0")/.."
venv=$2
case $1 in
    python) make_python ;;
    darshan) make_darshan ;;
    browser) make_browser ;;
    *) stop "unknown part '$1': python, darshan or browser" ;;
esac
