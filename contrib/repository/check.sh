#!/usr/bin/env bash
# Checks the batch scripts that git knows: HOPPER_FILES says which, HOPPER_SARIF where the SARIF goes.
set -euo pipefail
# The patterns are git's, not the shell's.
set -f
# shellcheck disable=SC2086 # one word a pattern
mapfile -d '' -t files < <(git ls-files -z -- ${HOPPER_FILES:-*.sh *.slurm *.sbatch *.pbs *.job})
[ "${#files[@]}" -gt 0 ] || { echo "no batch scripts"; exit 0; }
exec hopper place --sarif "${HOPPER_SARIF:-hopper.sarif}" -- "${files[@]}"
