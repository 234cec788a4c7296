#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A symbol leads to its file: what frame/msg.c exports is called msg_*. Stems are unique across the
# tree, and nothing of ours begins like a function of a library that we link.
#
#   symbols.sh BUILD [ROOT]    BUILD is a finished build folder; prints each fault, exit 1 if any
#
# tests/style/symbols.allow names the exceptions: one "source prefix" pair a line.
set -euo pipefail
build=$(realpath "$1")
allow=$(realpath "$(dirname "$0")/symbols.allow")
cd "${2:-$(dirname "$0")/../..}"

foreign='^(event|evbuffer|evhttp|evconnlistener|evdns|evutil|bufferevent|nghttp2|SSL|BIO|EVP|X509'
foreign+='|protobuf_c|json|yaml|ares|XXH)_'

faults=0
fault() {
    echo "$1"
    faults=$((faults + 1))
}

sources=$(find frame merge proto liaison -name '*.c' | sort)

repeated=$(sed -E 's#.*/##; s#\.c$##' <<<"$sources" | sort | uniq -d)
for stem in $repeated; do
    fault "stem $stem is used twice: $(grep -E "/$stem\.c$" <<<"$sources" | tr '\n' ' ')"
done

# Meson names an object after its path from the folder whose meson.build lists it, "/" as "_".
object_of() {
    local folder rest=$1 above=''
    while [[ $rest == */* ]]; do
        above=${above:+$above/}${rest%%/*}
        rest=${rest#*/}
        folder=$build/$above
        find "$folder" -maxdepth 2 -path "*.p/${rest//\//_}.o" 2>/dev/null
    done
}

checked=0
for source in $sources; do
    stem=$(basename "$source" .c)
    for object in $(object_of "$source" | sort -u); do
        checked=$((checked + 1))
        while read -r symbol; do
            if [[ $symbol =~ $foreign ]]; then
                fault "$source: $symbol could be taken for a library's"
            elif [[ $symbol != "$stem" && $symbol != "${stem}"_* ]]; then
                grep -qE "^$source ${symbol%%_*}$" "$allow" ||
                    fault "$source: $symbol does not begin with ${stem}_"
            fi
        done < <(nm -g --defined-only "$object" | awk 'NF == 3 && $2 ~ /[A-Z]/ {print $3}' |
            grep -vE '^(__|_fini|_init)' || true)
    done
done
if [ "$checked" -eq 0 ]; then
    fault "no object of the sources was found under $build"
fi
[ "$faults" -eq 0 ]
