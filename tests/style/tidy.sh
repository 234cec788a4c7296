#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy 14 over the sources of all floors, by the rules of .clang-tidy; warnings are errors.
#
#   tidy.sh BUILD [FILE...]    BUILD: a folder configured with clang, generated sources built
#
# Prints "ok FILE", or what was found and "not ok FILE"; exit 1 if one is not ok.
set -euo pipefail
build=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."

checker=clang-tidy-14
if ! command -v "$checker" >/dev/null; then
    echo "skip all files: $checker is not installed"
    exit 0
fi
if [ $# -gt 0 ]; then
    files=("$@")
else
    mapfile -t files < <(find frame merge proto liaison -name '*.c' | sort)
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# One file: its findings go to a file of its own, which is named .bad when there are any.
check_file() {
    local output=$scratch/${1//\//:}
    if ! "$checker" --quiet -p "$build" "$1" >"$output" 2>&1; then
        mv "$output" "$output.bad"
    fi
}
export -f check_file
export scratch build checker
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c 'check_file {}'

failed=0
for file in "${files[@]}"; do
    output=$scratch/${file//\//:}
    if [ -f "$output.bad" ]; then
        # Its count of the warnings in system headers, which it does not show, says nothing.
        grep -vE '^[0-9]+ warnings? ' "$output.bad" || true
        echo "not ok $file"
        failed=1
    else
        echo "ok $file"
    fi
done
exit "$failed"
