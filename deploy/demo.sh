#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows the liaison at work: builds it, starts three sample data nodes and the liaison before them,
# asks with a real gRPC client, prints the rows, and stays up for more questions until Ctrl-C.
#
#   deploy/demo.sh           stays up when there is a terminal, else ends after the rows
#   deploy/demo.sh --once    ends after the rows
#
# Installs what is missing (tests/packages.sh). Every port is chosen by the kernel.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/packages.sh
source tests/packages.sh

stay=no
[ ! -t 0 ] || stay=yes
case ${1:-} in
'') ;;
--once) stay=no ;;
*)
    sed -n '/^# Shows/,/^set /{/^set /d;s/^#$//;s/^# //;p}' "$0" >&2
    exit 2
    ;;
esac

python=/usr/bin/python3
program=build/liaison/bydb-liaison
scratch=$(mktemp -d)
children=()

finish() {
    local status=$? pid
    trap - EXIT INT TERM
    for pid in "${children[@]}"; do
        kill -TERM "$pid" 2>/dev/null || true
    done
    for pid in "${children[@]}"; do
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$scratch"
    exit "$status"
}
trap finish EXIT
trap 'exit 0' INT TERM

# start NAME COMMAND...: in the background; what it says goes to NAME.out and NAME.log.
start() {
    local name=$1
    shift
    "$@" </dev/null >"$scratch/$name.out" 2>"$scratch/$name.log" &
    children+=($!)
}

# wait_for FILE PID NAME: until the file has a line; fails with the log when the process ends first.
wait_for() {
    local file=$1 pid=$2 name=$3 tries
    for ((tries = 0; tries < 600; tries++)); do
        [ ! -s "$file" ] || return 0
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    echo "demo: the $name did not start:" >&2
    cat "$scratch/$name.log" >&2
    return 1
}

# value FILE EXPRESSION: of the JSON that the file holds, as d.
value() {
    "$python" -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

packages_ensure build

echo "building $program"
build() {
    [ -f build/build.ninja ] || meson setup build --buildtype=release
    ninja -C build "${program#build/}"
}
if ! build >"$scratch/build.log" 2>&1; then
    grep -vE '^\[[0-9]+/[0-9]+\] ' "$scratch/build.log" | tail -n 60
    exit 1
fi

echo "starting three sample data nodes and the liaison"
start nodes "$python" -B tests/datanode --demo --nodes 3
wait_for "$scratch/nodes.out" "${children[0]}" nodes
discovery=$(value "$scratch/nodes.out" 'd["discovery"]')
control=$(value "$scratch/nodes.out" 'd["control"]')

start liaison "$program" --node-discovery-mode=file --node-discovery-file-path="$discovery" \
    --grpc-host=127.0.0.1 --grpc-port=0 --observability-listener-addr=127.0.0.1:0 \
    --ports-file="$scratch/ports.json" --data-client-health-check-interval=1s
wait_for "$scratch/ports.json" "${children[1]}" liaison
address=127.0.0.1:$(value "$scratch/ports.json" 'd["grpc"]')
observability=127.0.0.1:$(value "$scratch/ports.json" 'd["observability"]')

# show COMMAND...: prints the command and runs it.
show() {
    echo
    echo "\$ $*"
    "$@"
}
query=tests/support/query.py
echo
echo "Latencies of endpoints, newest first. Each row lies on one of three nodes:"
show "$query" "$address" --group sw_latency --measure endpoint_latency_minute \
    --tags endpoint_id,status --fields value,percentile --desc --limit 12
echo
echo "Calls per minute by layer. Each row lies on two nodes and is answered once:"
show "$query" "$address" --group sw_metric --measure service_cpm_minute \
    --tags service_id,layer --fields value,total --order layer --last 3m
echo
echo "The endpoints that were slowest in the mean, of all three nodes' rows:"
show "$query" "$address" --group sw_latency --measure endpoint_latency_minute \
    --tags endpoint_id --by endpoint_id --agg mean:value --top 5:value

[ "$stay" = yes ] || exit 0

fetch="$python -c 'import sys, urllib.request as u; print(u.urlopen(*sys.argv[1:2], *[s.encode() for s in sys.argv[2:]]).read().decode())'"
post=$fetch
if command -v curl >/dev/null; then
    fetch='curl -s'
    post='curl -s -d'
fi
say_to_nodes() {
    if [ "$post" = 'curl -s -d' ]; then
        echo "curl -s -d '$1' $control"
    else
        echo "$post $control '$1'"
    fi
}
all_of_the_hour="--group sw_latency --measure endpoint_latency_minute --tags endpoint_id --limit 5000"
cat <<TEXT

The liaison listens on $address. Try in another terminal, from this folder:

  all services known, one row each (a measure in index mode):
    $query $address --group sw_traffic --measure service_traffic --tags service_id,name,layer

  a request of your own, as JSON:
    echo '{"groups":["sw_metric"],"name":"service_apdex_minute","limit":6,
           "timeRange":{"begin":"2020-01-01T00:00:00Z","end":"2100-01-01T00:00:00Z"},
           "criteria":{"condition":{"name":"service_id","op":"BINARY_OP_EQ","value":{"str":{"value":"mesh::catalog"}}}},
           "tagProjection":{"tagFamilies":[{"name":"default","tags":["service_id"]}]},
           "fieldProjection":{"names":["value"]}}' | $query $address --request -

  take a node away, and ask a second later: fewer rows, and the answer says whose; bring it back:
    $query $address $all_of_the_hour | tail -n 2
    $(say_to_nodes '{"stop":["d2"]}')
    $query $address $all_of_the_hour | tail -n 2
    $(say_to_nodes '{"start":{"d2":{}}}')

  metrics, the nodes and their states, health:
    $fetch http://$observability/metrics
    $fetch http://$observability/nodes
    $fetch http://$observability/healthz

  a frame as a table:
    $program frame tests/golden/good/v4-rows.bin

  the log: $scratch/liaison.log

Ctrl-C ends all of it.
TEXT
wait -n "${children[@]}" || true
echo "demo: a process has ended; the liaison's log says:"
tail -n 20 "$scratch/liaison.log"
exit 1
