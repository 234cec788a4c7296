#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The systemd units: understood without a warning, and as closed as they say.
#
#   units.sh [ROOT]    prints faults; exit 1 if there is one, 77 when systemd-analyze is not here
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
most_exposure=15 # tenths; systemd calls up to 20 "OK"

if ! systemd-analyze --version >/dev/null 2>&1; then
    echo "systemd-analyze is not here"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# `verify` wants the program to be there, and a template to have a name.
for unit in deploy/bydb-liaison.service deploy/bydb-liaison@.service; do
    name=$(basename "$unit")
    sed 's#^ExecStart=/usr/local/bin/bydb-liaison#ExecStart=/bin/true#' "$unit" \
        >"$scratch/${name/@./@1.}"
done
faults=0
for unit in "$scratch"/*.service; do
    systemd-analyze --man=no verify "$unit" >"$scratch/out" 2>&1 || faults=1
    if [ -s "$scratch/out" ]; then
        sed "s#$scratch/##" "$scratch/out"
        faults=1
    fi
    if ! systemd-analyze security --offline=true --threshold=$most_exposure --no-pager "$unit" \
        >"$scratch/out" 2>&1; then
        grep -E '✗|exposure' "$scratch/out" || cat "$scratch/out"
        faults=1
    fi
done
[ "$faults" -eq 0 ]
