#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every C file is formatted as .clang-format says, by clang-format 14 (releases differ).
#
#   format.sh [ROOT]       check: prints what differs, exit 1 if anything does
#   format.sh fix [ROOT]   rewrite the files
# Exit 77: clang-format 14 is not here, nothing was checked.
set -euo pipefail
mode=check
if [ "${1:-}" = fix ]; then
    mode=fix
    shift
fi
cd "${1:-$(dirname "$0")/../..}"

formatter=clang-format-14
if ! command -v "$formatter" >/dev/null; then
    echo "format: $formatter is not installed; formatting was not checked"
    exit 77
fi
mapfile -t files < <(find frame merge proto liaison tests -name '*.[ch]' 2>/dev/null | sort)
[ ${#files[@]} -gt 0 ] || exit 0
if [ "$mode" = fix ]; then
    "$formatter" -i --style=file "${files[@]}"
else
    "$formatter" --dry-run -Werror --style=file "${files[@]}" 2>&1
fi
