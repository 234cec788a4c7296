#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each check of deploy/ can fail: it is shown a copy with one fault and has to name it. Prints
# "ok NAME", "not ok NAME" or "skip NAME" lines; exit 1 if one is not ok.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

copy() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/tests"
    ln -s "$root"/{frame,merge,proto,LICENSE,meson.build,meson_options.txt} "$scratch/tree"
    cp -r "$root"/{deploy,liaison,README.md} "$scratch/tree"
    cp "$root/tests/packages.sh" "$scratch/tree/tests"
    cd "$scratch/tree/deploy"
}

# catches NAME WORDS CHECK: the check fails on the copy and says WORDS.
catches() {
    local name="deploy: $1" words=$2 status=0
    "$here/$3" "$scratch/tree" >"$scratch/output" 2>&1 || status=$?
    if [ "$status" = 77 ]; then
        echo "skip $name: $(tail -n 1 "$scratch/output")"
    elif [ "$status" -ne 0 ] && grep -qF -- "$words" "$scratch/output"; then
        echo "ok $name"
    else
        cat "$scratch/output"
        echo "not ok $name"
        failed=1
    fi
}

# fault FILE SED-PROGRAM: a fresh copy with one change; without one the sample is worth nothing.
fault() {
    copy
    sed -i "$2" "$1"
    if cmp -s "$1" "$root/deploy/$1"; then
        echo "the sample changes nothing: $1: $2"
        failed=1
    fi
}

deployment=kubernetes/base/deployment.yaml

fault README.md '$a Use `--no-such-flag`.'
catches 'a flag that there is not' '--no-such-flag is no flag' flags.py
fault bydb-liaison.env '$a BYDB_GRPC_PROT=17912'
catches 'a variable that there is not' 'BYDB_GRPC_PROT is no flag' flags.py
fault bydb-liaison.env 's/^BYDB_GRACE=.*/BYDB_GRACE=30/'
catches 'a value of the wrong type' '30 is no DURATION' flags.py
fault compose.yaml 's/BYDB_NODE_DISCOVERY_MODE: file/BYDB_NODE_DISCOVERY_MODE: etcd/'
catches 'a value that there is not' 'etcd is none of' flags.py
fault README.md '$a Use `--grace=1m`.'
sed -i 's/^OPTION(DURATION, grace, "10s", WORKS/OPTION(DURATION, grace, "10s", REFUSES/' \
    ../liaison/options/options_table.h
catches 'a flag that is refused' '--grace is refused at start' flags.py
fault README.md '$a nothing'
sed -i 's/^OPTION(DURATION, grace, "10s", WORKS/OPTION(DURATION, grace, "10s", WARNS/' \
    ../liaison/options/options_table.h
catches 'a setting without effect' 'does nothing' flags.py

fault "$deployment" 's/terminationGracePeriodSeconds: .*/terminationGracePeriodSeconds: 45/'
catches 'too little time to stop a pod' 'stopping is given 45 s' manifests.py
fault compose.yaml 's/stop_grace_period: .*/stop_grace_period: 10s/'
catches 'too little time to stop a container' 'stopping is given 10 s' manifests.py
fault bydb-liaison.env 's/^BYDB_GRACE=.*/BYDB_GRACE=2m/'
catches 'too little time to stop a unit' 'stopping is given 45 s' manifests.py
fault "$deployment" '/BYDB_GRACE/{n;s/30s/5s/}'
catches 'a grace shorter than a query' 'shorter than a query may take' manifests.py
fault "$deployment" '/BYDB_ALLOWED_PERCENT/{n;s/75/95/}'
catches 'memory without a margin' 'leaves too little' manifests.py
fault bydb-liaison.service 's/^MemoryMax=.*/MemoryMax=512M/'
catches 'one query that may hold everything' 'more than a quarter' manifests.py
fault "$deployment" 's/maxUnavailable: 0/maxUnavailable: 1/'
catches 'a rolling update that takes before it gives' 'maxUnavailable 0' manifests.py
fault "$deployment" 's/readOnlyRootFilesystem: true/readOnlyRootFilesystem: false/'
catches 'an open container' 'securityContext is not tight' manifests.py
fault "$deployment" 's#path: /metrics#path: /healthz#'
catches 'a liveness probe that restarts for others' '/healthz is no liveness' manifests.py
fault kubernetes/base/servicemonitor.yaml 's/component: headless/component: other/'
catches 'a ServiceMonitor of nothing' 'selects 0 Services' manifests.py
fault kubernetes/base/servicemonitor.yaml 's/port: metrics/port: metric/'
catches 'a ServiceMonitor of a port that there is not' 'has no port metric' manifests.py
fault kubernetes/base/grpcroute.yaml 's/method: TopN/method: Top/'
catches 'a route of a method that there is not' 'has no method' manifests.py
fault kubernetes/base/kustomization.yaml 's/services.yaml/service.yaml/'
catches 'a kustomization of a file that there is not' 'service.yaml is not there' manifests.py
fault "$deployment" '0,/replicas: 2/s//replicas: [/'
catches 'YAML that does not parse' 'does not parse' manifests.py
fault kubernetes/tls/configmap.yaml '0,/ca_cert_path/s//ca_path/'
catches 'a node with TLS and no CA' 'no ca_cert_path' manifests.py

fault "$deployment" 's/maxSurge: 1/maxSurges: 1/'
catches 'a key that Kubernetes does not know' 'maxSurges' schemas.sh

fault README.md 's/no property schema nodes found/no schema nodes found/'
catches 'a quote that is not in the source' 'not in the source' texts.py
fault README.md 's/bydb_live_queries/bydb_queries_alive/'
catches 'a metric that there is not' 'bydb_queries_alive' texts.py

fault Containerfile 's/^USER .*/USER root/'
catches 'a container that runs as root' 'USER has to be' container.py
fault Containerfile 's/ libjansson-dev / libjanson-dev /'
catches 'a package that is not known' 'installs libjanson-dev' container.py
fault Containerfile 's#^ENTRYPOINT .*#ENTRYPOINT /usr/local/bin/bydb-liaison#'
catches 'a container that needs a shell' 'ENTRYPOINT has to be a list' container.py

fault bydb-liaison.service 's/^RestartSec=.*/RestartSecs=3/'
catches 'a unit with an unknown key' 'RestartSecs' units.sh
fault bydb-liaison.service '/^SystemCallFilter=/d;/^PrivateUsers=/d;/^CapabilityBoundingSet=/d'
catches 'a unit that is open' 'exposure' units.sh

exit "$failed"
