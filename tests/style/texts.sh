#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The texts speak of the project alone: no paths of the machine it was written on, no names of the
# tools it was written with, nothing left to do, no chapter of a document that is not here. Each
# source file names its licence.
#
#   texts.sh [ROOT]    prints each fault as file:line: text; exit 1 if there is one
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

faults=0
fault() {
    echo "$1"
    faults=$((faults + 1))
}

# In a repository its own files and those about to be added; elsewhere all files.
files() {
    if [ -e .git ]; then
        git ls-files --cached --others --exclude-standard
    else
        find . -type f | sed 's#^\./##'
    fi | sort -u | while read -r file; do
        if [ -f "$file" ] && [ "$file" != LICENSE ]; then echo "$file"; fi
    done
}

# One letter of each pattern stands in brackets, so that this file does not find itself.
declare -A forbidden=(
    ["a path of some machine"]='/[w]ork/|/[r]oot/|/[h]ome/[a-z]|/[U]sers/'
    ["the name of a tool"]='[c]laude|[a]nthropic|[o]penai|[c]hatgpt|[c]opilot|[c]ursor\.sh'
    ["something left to do"]='\b([T]ODO|[F]IXME|[X]XX|[H]ACK)\b'
    ["an issue's number"]='\b([i]ssue|[t]icket|[p]ull request|[P]R) ?#?[0-9]+|\b([s]ee|[f]ixes|[c]loses) #[0-9]'
    ["a document that is not here"]='\b([q]uery-semantics|[c]luster-protocol|[d]esign) [0-9]'
    ["a conflict mark"]='^(<{7}|>{7}) '
)

mapfile -t all < <(files)
mapfile -t texts < <(printf '%s\0' "${all[@]}" | xargs -0 -r grep -Il '' || true)
for what in "${!forbidden[@]}"; do
    insensitive=
    [ "$what" = "the name of a tool" ] && insensitive=-i
    while IFS= read -r found; do
        fault "${found%%:*}:$(cut -d: -f2 <<<"$found"): $what: $(cut -d: -f3- <<<"$found" |
            sed -E 's/^ +//' | cut -c1-100)"
    done < <(grep -nHE $insensitive "${forbidden[$what]}" "${texts[@]}" || true)
done

for file in "${all[@]}"; do
    case $file in
    *.[ch] | *.py | *.sh | *.proto | meson.build | */meson.build)
        [ ! -s "$file" ] || head -n 4 "$file" | grep -q 'SPDX-License-Identifier: ' ||
            fault "$file:1: no SPDX-License-Identifier line"
        ;;
    esac
done
[ "$faults" -eq 0 ]
