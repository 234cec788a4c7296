#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every shell script and every Python file at least parses, and scripts stop at their first error.
# Commands say which Python: the packages belong to that of the system, another one may come first
# on the PATH.
#
#   scripts.sh [ROOT]    prints each fault; exit 1 if there is one
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

faults=0
fault() {
    echo "$1"
    faults=$((faults + 1))
}

while read -r file; do
    bash -n "$file" || fault "$file: does not parse"
    # A file without a first line for the kernel is sourced: whoever sources it sets the options.
    if head -n 1 "$file" | grep -q '^#!'; then
        grep -q '^set -euo pipefail$' "$file" || fault "$file: no 'set -euo pipefail'"
    fi
done < <(find tests deploy .ci -name '*.sh' -o -path .ci/run 2>/dev/null | sort)

while IFS= read -r found; do
    fault "$found"
done < <(find tests deploy -name '*.py' 2>/dev/null | sort | /usr/bin/python3 -c '
import ast, sys
for path in sys.stdin.read().split():
    try:
        ast.parse(open(path, encoding="utf-8").read(), path)
    except SyntaxError as why:
        print(f"{path}:{why.lineno}: does not parse: {why.msg}")
')

# Not in the list of packages, where it is one of them.
while IFS= read -r found; do
    fault "$found: without its path; /usr/bin/python3 is the one that has the packages"
done < <(find . -path ./.git -prune -o '(' -name '*.md' -o -name '*.sh' -o -name '*.py' ')' \
    ! -path ./tests/packages.sh -printf '%P\0' | sort -z |
    xargs -0 -r grep -noHE '(^|[^[:alnum:]/-])[p]ython3( +[-[:alnum:].]+|$)' || true)
[ "$faults" -eq 0 ]
