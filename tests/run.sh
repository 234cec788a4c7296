#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs all tests and ends with one line, "N passed, N failed", over everything that ran.
#
#   tests/run.sh              everything but the benchmarks
#   tests/run.sh STAGE...     a part:
#       style         floors, symbols, format, sizes, texts, and that each of these checks can fail
#       unit          gcc build, unit tests
#       sanitize      clang build with AddressSanitizer, UBSan and LeakSanitizer, the same tests
#       tidy          clang-tidy over all floors
#       acceptance    the sample data nodes, and queries over them through a real gRPC client
#       integration   the real program, real sockets, faults; a part again on the sanitizer build
#       demo          deploy/demo.sh shows rows
#       fuzz          each entry for FUZZ_SECONDS (60)
#       bench         benchmarks of an optimised build, printed; tests/README.md tells what each measures
#
# On a machine where nothing is installed it installs what it needs (tests/packages.sh). What lies
# in ../shared, or where BYDB_SHARED points, is used when it is there. Builds go to build-check/.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/packages.sh
source tests/packages.sh

python=/usr/bin/python3
scratch=$(mktemp -d)
export TMPDIR=$scratch # what tests leave behind when they are ended goes with it
child=
total_passed=0
total_failed=0
total_skipped=0

# ---------------------------------------------------------------- processes

finish() {
    local status=$?
    trap - EXIT INT TERM
    if [ -n "$child" ]; then
        kill -TERM "$child" 2>/dev/null && wait "$child" 2>/dev/null || true
    fi
    rm -rf "$scratch"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# limited SECONDS LOG COMMAND...: runs it with no input, its output in LOG. `timeout` makes a
# process group of its own and ends all of that at the limit, and when it is ended itself.
limited() {
    local seconds=$1 log=$2 status=0
    shift 2
    timeout --kill-after=20 "$seconds" "$@" </dev/null >"$log" 2>&1 &
    child=$!
    wait "$child" || status=$?
    child=
    [ "$status" -ne 124 ] || echo "ended after $seconds s: $*" >>"$log"
    return "$status"
}

# ------------------------------------------------------------------ results

stage_begin() {
    stage=$1
    stage_passed=0
    stage_failed=0
    stage_skipped=0
    stage_began=$SECONDS
    echo
    echo "== $stage: $2"
}

stage_end() {
    local all=$((stage_passed + stage_failed)) left=
    [ "$stage_skipped" -eq 0 ] || left=", $stage_skipped not run"
    echo "-- $stage: $stage_passed of $all tests pass$left ($((SECONDS - stage_began)) s)"
    total_passed=$((total_passed + stage_passed))
    total_failed=$((total_failed + stage_failed))
    total_skipped=$((total_skipped + stage_skipped))
}

# count PASSED FAILED SKIPPED
count() {
    stage_passed=$((stage_passed + $1))
    stage_failed=$((stage_failed + $2))
    stage_skipped=$((stage_skipped + $3))
}

# check NAME COMMAND...: one test; its output is shown when it fails. Status 77 = not run.
check() {
    local name=$1 status=0
    shift
    limited 600 "$scratch/check.log" "$@" || status=$?
    case $status in
    0)
        count 1 0 0
        echo "   ok   $name"
        sed -n 's/^note: /        /p' "$scratch/check.log"
        ;;
    77)
        count 0 0 1
        echo "   skip $name: $(tail -n 1 "$scratch/check.log")"
        ;;
    *)
        count 0 1 0
        echo "   FAIL $name"
        tail -n 200 "$scratch/check.log" | sed 's/^/        /'
        ;;
    esac
}

# results KIND FILE...: counts what tests/support/results.py reads there and shows what failed.
results() {
    local counted
    "$python" tests/support/results.py "$@" >"$scratch/results.txt"
    sed '$d' "$scratch/results.txt"
    counted=$(tail -n 1 "$scratch/results.txt")
    # shellcheck disable=SC2086 # three numbers
    count $counted
}

# ------------------------------------------------------------------- builds

# Builds once a run; the same name again gives the same verdict without another try.
declare -A built
build() {
    local name=$1 status=0
    shift
    if [ -z "${built[$name]:-}" ]; then
        # shellcheck disable=SC2046 # targets hold no blanks
        configure "$name" "$@" && limited 1200 "$scratch/build.log" \
            ninja -C "build-check/$name" $(targets_of "$name") || status=$?
        built[$name]=$status
        if [ "$status" -ne 0 ]; then
            echo "   FAIL build of build-check/$name"
            grep -vE '^\[[0-9]+/[0-9]+\] (Compiling|Linking|Generating)' "$scratch/build.log" |
                tail -n 80 | sed 's/^/        /' || true
            count 0 1 0
        fi
    fi
    return "${built[$name]}"
}

# Of the fuzz build only the entries; else everything.
targets_of() {
    [ "$1" != fuzz ] || ninja -C build-check/fuzz -t targets all |
        sed -n 's#^\(tests/fuzz/fuzz_[a-z0-9_]*\):.*#\1#p'
}

configure() {
    local name=$1
    shift
    if [ -f "build-check/$name/build.ninja" ]; then
        limited 300 "$scratch/build.log" ninja -C "build-check/$name" build.ninja && return
        echo "   build-check/$name cannot be reused: configured anew"
        rm -rf "build-check/${name:?}"
    fi
    limited 300 "$scratch/build.log" meson setup "build-check/$name" "$@"
}

build_gcc() { CC=gcc build gcc; }
build_sanitize() {
    CC=clang-$CLANG_VERSION build sanitize -Db_sanitize=address,undefined -Db_lundef=false
}
build_fuzz() {
    CC=clang-$CLANG_VERSION build fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
}
build_release() { CC=gcc build release --buildtype=release; }

export ASAN_OPTIONS=detect_leaks=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export CLANG_VERSION

# ------------------------------------------------------------------- stages

# Every test that meson knows; of Check programs each test case counts (tests/support/tap.sh).
unit_tests() {
    local name=$1 seconds=$2
    rm -rf "$scratch/tap" && mkdir "$scratch/tap"
    TAP_FOLDER=$scratch/tap limited "$seconds" "$scratch/unit.log" meson test -C "build-check/$name" \
        --no-rebuild --print-errorlogs --wrapper "$PWD/tests/support/tap.sh" --timeout-multiplier 4 ||
        true
    results meson "build-check/$name/meson-logs/testlog-tap.sh.json" "$scratch/tap" "$scratch/unit.log"
}

# pytest_run NAME SECONDS ARGUMENT...
pytest_run() {
    local name=$1 seconds=$2
    shift 2
    limited "$seconds" "$scratch/$name.log" "$python" -B -m pytest -p no:cacheprovider -q \
        --rootdir="$PWD" --confcutdir="$PWD" \
        --junitxml="$scratch/$name.xml" "$@" || true
    results junit "$scratch/$name.xml" "$scratch/$name.log"
}

stage_style() {
    stage_begin style "what the sources look like"
    check floors tests/style/floors.sh
    check format tests/style/format.sh
    check sizes tests/style/size.py
    check texts tests/style/texts.sh
    check 'log formats' tests/style/log_formats.py
    check scripts tests/style/scripts.sh
    if build_gcc; then
        check symbols tests/style/symbols.sh build-check/gcc
    fi
    limited 300 "$scratch/selftest.log" tests/style/selftest.sh || true
    results lines "$scratch/selftest.log"
    limited 300 "$scratch/deploy.log" tests/deploy/check.sh || true
    results lines "$scratch/deploy.log"
    stage_end
}

stage_unit() {
    stage_begin unit "gcc build and unit tests"
    ! build_gcc || unit_tests gcc 900
    stage_end
}

stage_sanitize() {
    stage_begin sanitize "clang $CLANG_VERSION build with sanitizers and unit tests"
    ! build_sanitize || CK_FORK=no unit_tests sanitize 1200
    stage_end
}

stage_tidy() {
    stage_begin tidy "clang-tidy"
    if build_sanitize; then
        limited 900 "$scratch/tidy.log" tests/style/tidy.sh build-check/sanitize || true
        results lines "$scratch/tidy.log"
    fi
    stage_end
}

stage_acceptance() {
    stage_begin acceptance "queries over sample data nodes"
    pytest_run datanode 600 tests/datanode
    if build_gcc; then
        BYDB_LIAISON=$PWD/build-check/gcc/liaison/bydb-liaison \
            pytest_run acceptance 1500 tests/acceptance
    fi
    stage_end
}

# The folders of integration tests, each run by itself: their helpers may share names.
integration_parts() {
    local folder
    echo tests/integration
    for folder in tests/integration/*/; do
        ! compgen -G "$folder/test_*.py" >/dev/null || echo "${folder%/}"
    done
}

# integration_on BUILD ARGUMENT... FOLDER: a folder's own tests, not those of its sub-folders.
integration_on() {
    local build=$1
    shift
    BYDB_BUILD=$PWD/build-check/$build \
        BYDB_LIAISON=$PWD/build-check/$build/liaison/bydb-liaison \
        pytest_run integration 1500 --ignore-glob="${*: -1}/*/*" "$@"
}

stage_integration() {
    local part
    stage_begin integration "the real program, real sockets, faults"
    if build_gcc; then
        for part in $(integration_parts); do
            integration_on gcc "$part"
        done
    fi
    if build_sanitize; then
        echo "   the part marked 'sanitize', on the sanitizer build:"
        for part in $(integration_parts) tests/acceptance; do
            ! grep -qrs --include='test_*.py' 'mark\.sanitize' "$part" ||
                integration_on sanitize -m sanitize "$part"
        done
    fi
    stage_end
}

# Every query that the demo shows is answered with rows, and there is one.
demo_shows_rows() {
    local shown asked answered
    shown=$(deploy/demo.sh --once)
    echo "$shown"
    asked=$(grep -c '^\$ tests/support/query.py' <<<"$shown")
    answered=$(grep -c '^[1-9][0-9]* rows' <<<"$shown")
    echo "$asked queries shown, $answered answered with rows"
    [ "$asked" -gt 0 ] && [ "$asked" -eq "$answered" ]
}
export -f demo_shows_rows

stage_demo() {
    stage_begin demo "the first command of the README"
    check deploy/demo.sh bash -euo pipefail -c demo_shows_rows
    stage_end
}

stage_fuzz() {
    local entry name
    stage_begin fuzz "each entry for ${FUZZ_SECONDS:-60} s"
    if build_fuzz; then
        for entry in build-check/fuzz/tests/fuzz/fuzz_*; do
            [ -f "$entry" ] && [ -x "$entry" ] || continue
            name=$(basename "$entry")
            check "$name" tests/support/fuzz.sh "$entry" "${FUZZ_SECONDS:-60}"
        done
    fi
    stage_end
}

stage_bench() {
    stage_begin bench "benchmarks of an optimised build"
    if build_release; then
        limited 1800 "$scratch/bench.log" meson test -C build-check/release --no-rebuild --benchmark \
            --verbose --num-processes 1 || true
        sed -n '/stdout:\|rows\/s\|MB\/s\|ms\b\|ns\b\|charged/p' "$scratch/bench.log" | sed 's/^/   /'
        results meson build-check/release/meson-logs/benchmarklog.json "$scratch" "$scratch/bench.log"
    fi
    stage_end
}

# --------------------------------------------------------------------- main

usual=(style unit sanitize tidy acceptance integration demo fuzz)

usage() {
    sed -n '/^# Runs all tests/,/^set /{/^set /d;s/^#$//;s/^# //;p}' "$0" >&2
    exit 2
}

# In one function: the shell has read all of it before it begins, so that this file may be edited
# while it runs.
main() {
    local name stages=("$@")
    [ ${#stages[@]} -gt 0 ] || stages=("${usual[@]}")
    for name in "${stages[@]}"; do
        [[ " ${usual[*]} bench " == *" $name "* ]] || usage
    done
    packages_ensure build test
    for name in "${stages[@]}"; do
        "stage_$name"
    done
    echo
    [ "$total_skipped" -eq 0 ] || echo "$total_skipped tests were not run; each said why."
    echo "$total_passed passed, $total_failed failed"
    [ "$total_failed" -eq 0 ]
    exit
}
main "$@"
