#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who may include whom:  frame <- merge <- proto <- liaison.
#
# A file includes its own floor or lower ones, by a path from the root, so that the floor shows on
# the line. frame/ and merge/ are pure: they take bytes and give bytes, without sockets, files,
# clocks, logs or an event loop, so what they may include and call is listed, not what they may not.
#
#   floors.sh [ROOT]    prints each fault as file:line: text; exit 1 when there is one
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

floors=(frame merge proto liaison)

pure='assert|errno|float|inttypes|limits|math|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdlib|string'
pure+='|endian|emmintrin|immintrin|sanitizer/asan_interface|sys/queue'
declare -A system_headers=(
    [frame]="$pure"
    [merge]="$pure|xxhash"
    [proto]="$pure|stdio|stdatomic|time|ctype|protobuf-c/protobuf-c|jansson|xxhash"
    [liaison]='.*'
)
# What allowed headers would still let a pure floor reach.
outside='fopen|printf|fprintf|puts|perror|getenv|setenv|system|exit|time|clock|clock_gettime'

faults=0
fault() {
    echo "$1"
    faults=$((faults + 1))
}

rank_of() {
    local i
    for i in "${!floors[@]}"; do
        [ "${floors[$i]}" = "$1" ] && echo "$i" && return
    done
    echo -1
}

# file:line:path of each include in quotes (first argument '"') or brackets ('<')
includes() {
    local close='"'
    [ "$1" = '<' ] && close='>'
    grep -RnE --include='*.[ch]' "^[[:space:]]*#[[:space:]]*include[[:space:]]*$1" "$2" |
        sed -E "s/^([^:]+:[0-9]+):[^$1]*$1([^$close]+)$close.*/\1:\2/" || true
}

check_project_includes() {
    local floor=$1 where line path to
    while IFS=: read -r where line path; do
        to=$(rank_of "${path%%/*}")
        if [ "$to" -lt 0 ] || [ "$path" = "${path#*/}" ]; then
            fault "$where:$line: \"$path\" is not written from the root"
        elif [ "$to" -gt "$(rank_of "$floor")" ]; then
            fault "$where:$line: floor $floor includes \"$path\", which is above it"
        elif [[ $path != *.pb-c.h && ! -f $path ]]; then
            fault "$where:$line: \"$path\" does not exist"
        fi
    done < <(includes '"' "$floor")
}

check_system_includes() {
    local floor=$1 allowed=${system_headers[$1]} where line path
    while IFS=: read -r where line path; do
        [ "$where" = frame/error.c ] && [ "$path" = stdio.h ] && continue
        if ! [[ ${path%.h} =~ ^($allowed)$ ]]; then
            fault "$where:$line: <$path> does not belong on floor $floor"
        fi
    done < <(includes '<' "$floor")
}

check_pure_calls() {
    local found
    # Comments go first: they may well speak of what the code does not do.
    while IFS= read -r found; do
        fault "$found"
    done < <(find frame merge -name '*.c' -print0 2>/dev/null | sort -z |
        xargs -0 -r awk -v names="$outside" '
            FNR == 1 { in_comment = 0 }
            { text = $0
              gsub(/\/\*([^*]|\*[^\/])*\*\//, "", text); sub(/\/\/.*/, "", text)
              if (in_comment) { if (!sub(/.*\*\//, "", text)) next; in_comment = 0 }
              if (sub(/\/\*.*/, "", text)) in_comment = 1
              if (match(text, "(^|[^A-Za-z0-9_.>])(" names ")[ ]*\\(")) {
                  call = substr(text, RSTART, RLENGTH); gsub(/[^a-z_]/, "", call)
                  print FILENAME ":" FNR ": a pure floor calls " call "()"
              } }')
}

for floor in "${floors[@]}"; do
    [ -d "$floor" ] || continue
    check_project_includes "$floor"
    check_system_includes "$floor"
done
check_pure_calls
[ "$faults" -eq 0 ]
