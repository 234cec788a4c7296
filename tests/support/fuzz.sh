#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one libFuzzer entry for some seconds over its corpus; new inputs go to a scratch folder.
#
#   fuzz.sh ENTRY SECONDS    what broke it is printed as base64
set -euo pipefail
entry=$1
seconds=$2
cd "$(dirname "$0")/../.."

name=$(basename "$entry")
seeds=tests/fuzz/corpus/${name#fuzz_}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/corpus" "$scratch/broken"
corpora=("$scratch/corpus")
[ ! -d "$seeds" ] || corpora+=("$seeds")

status=0
"$entry" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3072 -print_final_stats=1 \
    -artifact_prefix="$scratch/broken/" "${corpora[@]}" >"$scratch/log" 2>&1 || status=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/log")
if [ "$status" -ne 0 ]; then
    tail -n 120 "$scratch/log"
    for input in "$scratch"/broken/*; do
        [ -f "$input" ] || continue
        echo "input $(basename "$input"), $(stat -c %s "$input") bytes, base64:"
        base64 "$input" | head -n 60
    done
    exit 1
fi
if [ "${runs:-0}" -eq 0 ]; then
    echo "$name ran nothing:"
    tail -n 20 "$scratch/log"
    exit 1
fi
echo "note: $runs inputs"
