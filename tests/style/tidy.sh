#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy 14 over the sources of all floors, by the rules of .clang-tidy; warnings are errors.
#
#   tidy.sh BUILD [FILE...]    BUILD: a folder configured with clang, generated sources built
# Exit 77: clang-tidy 14 is not here, nothing was checked.
set -euo pipefail
build=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."

checker=clang-tidy-14
if ! command -v "$checker" >/dev/null; then
    echo "tidy: $checker is not installed; nothing was checked"
    exit 77
fi
if [ $# -gt 0 ]; then
    files=("$@")
else
    mapfile -t files < <(find frame merge proto liaison -name '*.c' | sort)
fi

output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0
printf '%s\0' "${files[@]}" |
    xargs -0 -P "$(nproc)" -n 1 "$checker" --quiet -p "$build" >"$output" 2>&1 || status=$?
# Its count of the warnings in system headers, which it does not show, says nothing.
grep -vE '^[0-9]+ warnings? ' "$output" || true
[ "$status" -eq 0 ]
