#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The manifests fit Kubernetes' own schemas, also what the kustomizations make of them.
#
#   schemas.sh [ROOT]    prints faults; exit 1 if there is one, 77 when there is no validator
#
# The validator is the Python package kubernetes-validate, which brings the schemas with it. It is
# installed once, into build-check/deploy-venv; nothing else is asked over the network.
set -euo pipefail
repository=$(cd "$(dirname "$0")/../.." && pwd)
root=$(cd "${1:-$repository}" && pwd)
venv=$repository/build-check/deploy-venv
release=1.37.0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ ! -x "$venv/bin/kubernetes-validate" ]; then
    mkdir -p "${venv%/*}"
    fresh=$(mktemp -d "$venv.XXXXXX")
    if ! { /usr/bin/python3 -m venv "$fresh" && timeout 120 "$fresh/bin/pip" install --quiet \
        --disable-pip-version-check --retries 0 --timeout 10 "kubernetes-validate==$release"; } \
        >"$scratch/pip.log" 2>&1; then
        rm -rf "$fresh"
        echo "kubernetes-validate cannot be installed here"
        exit 77
    fi
    rm -rf "$venv"
    # Scripts name the interpreter of the folder that they were made in: called as a module instead.
    mv "$fresh" "$venv"
fi

# fits VERSION FILE...
fits() {
    local version=$1
    shift
    "$venv/bin/python" -m kubernetes_validate --strict -k "$version" "$@" >"$scratch/out" 2>&1 && return
    sed "s#^#Kubernetes $version: #; s#$root/##" "$scratch/out"
    return 1
}

cd "$root"
faults=0
files=()
for file in deploy/kubernetes/*/*.yaml; do
    case ${file##*/} in
    kustomization.yaml | servicemonitor.yaml | grpcroute.yaml) ;; # not of Kubernetes itself
    *) [ "${file%/*}" != deploy/kubernetes/base ] || files+=("$file") ;;
    esac
done
fits 1.30 "${files[@]}" || faults=1

# The others are patches: they make sense only when they are put together with the base.
if command -v kubectl >/dev/null; then
    files=()
    for folder in deploy/kubernetes/*/; do
        name=$(basename "$folder")
        files+=("$scratch/$name.yaml")
        if ! KUBECONFIG=/dev/null kubectl kustomize "$folder" >"$scratch/$name.yaml" 2>"$scratch/out"; then
            sed "s#^#$name: #" "$scratch/out"
            exit 1
        fi
    done
    fits 1.36 "${files[@]}" || faults=1
else
    echo "note: kubectl is not here, so the kustomizations were not put together"
    fits 1.36 "${files[@]}" || faults=1
fi
[ "$faults" -eq 0 ]
