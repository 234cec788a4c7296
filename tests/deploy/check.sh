#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What can be checked of deploy/ without a container engine and without a cluster, and that each of
# these checks can fail. Prints "ok NAME", "not ok NAME" or "skip NAME" lines; exit 1 if one is not ok.
#
#   check.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
output=$(mktemp)
trap 'rm -f "$output"' EXIT
failed=0

# check NAME COMMAND...: its output is shown when it fails. Status 77 = not run, its last line says why.
check() {
    local name=$1 status=0
    shift
    "$@" >"$output" 2>&1 || status=$?
    case $status in
    0) echo "ok $name" ;;
    77) echo "skip $name: $(tail -n 1 "$output")" ;;
    *)
        cat "$output"
        echo "not ok $name"
        failed=1
        ;;
    esac
}

check 'deploy: flags and variables are those of the program' "$here/flags.py"
check 'deploy: manifests, compose file and units agree' "$here/manifests.py"
check 'deploy: texts quoted are those of the source' "$here/texts.py"
check 'deploy: Containerfile' "$here/container.py"
check 'deploy: systemd units' "$here/units.sh"
check 'deploy: Kubernetes schemas' "$here/schemas.sh"
"$here/selftest.sh" || failed=1
exit "$failed"
