#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Wraps each test that meson runs: a Check program writes one line for each of its test cases to a
# file of its own in TAP_FOLDER; other programs ignore the variable.
set -euo pipefail
export CK_TAP_LOG_FILE_NAME=$TAP_FOLDER/$(basename "$1").$$.tap
exec "$@"
