# SPDX-License-Identifier: Apache-2.0
# What has to be installed, in one place. Sourced by tests/run.sh and deploy/demo.sh.
#
#   packages_ensure build       compile the program and run the demo
#   packages_ensure build test  also run everything that tests/run.sh runs
#
# Only what is missing is installed, by apt-get, and `apt-get update` runs at most once. With
# everything there no privilege is needed and nothing outside the machine is asked.

packages_build=(
    gcc libc6-dev meson ninja-build pkg-config
    libnghttp2-dev libevent-dev libssl-dev libprotobuf-c-dev protobuf-c-compiler
    libxxhash-dev libjansson-dev libyaml-dev libc-ares-dev check
    curl python3 python3-grpcio python3-protobuf python3-yaml python3-xxhash protobuf-compiler libprotobuf-dev
)
packages_test=(binutils git openssl universal-ctags python3-pytest python3-h2)

# Formatting and diagnostics differ between releases, so the checks are pinned to this one.
packages_style_clang=14
packages_clang_versions=(14 15 16 17 18)

packages_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

packages_available() {
    [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p' | grep -v '(none)')" ]
}

packages_update_once() {
    [ -n "${packages_updated:-}" ] && return
    echo "packages: apt-get update"
    DEBIAN_FRONTEND=noninteractive apt-get update -qq >/dev/null
    packages_updated=1
}

# The packages of one clang release: compiler, symbolizer, sanitizer and fuzzer runtimes, checkers.
packages_of_clang() {
    echo "clang-$1 llvm-$1 libclang-rt-$1-dev clang-format-$1 clang-tidy-$1"
}

# Sets CLANG_VERSION: the first release that is here, else the first that can be had. Without the
# privilege to fetch the lists those that are here decide, and where there are none the first release
# is the one to ask for.
packages_pick_clang() {
    local version
    for version in "${packages_clang_versions[@]}"; do
        if packages_installed "clang-$version" && packages_installed "libclang-rt-$version-dev"; then
            CLANG_VERSION=$version
            return
        fi
    done
    [ "$(id -u)" -ne 0 ] || packages_update_once
    for version in "${packages_clang_versions[@]}"; do
        if packages_available "clang-$version" && packages_available "libclang-rt-$version-dev"; then
            CLANG_VERSION=$version
            return
        fi
    done
    CLANG_VERSION=${packages_clang_versions[0]}
    [ "$(id -u)" -eq 0 ] || return 0
    echo "packages: none of clang-${packages_clang_versions[0]} to" \
        "clang-${packages_clang_versions[-1]} is to be had here" >&2
    return 1
}

packages_ensure() {
    local wanted=() missing=() set name
    for set in "$@"; do
        case $set in
        build) wanted+=("${packages_build[@]}") ;;
        test)
            wanted+=("${packages_test[@]}")
            packages_pick_clang
            # shellcheck disable=SC2207 # package names hold no blanks
            wanted+=($(packages_of_clang "$CLANG_VERSION"))
            ;;
        esac
    done
    for name in "${wanted[@]}"; do
        packages_installed "$name" || missing+=("$name")
    done
    [ ${#missing[@]} -eq 0 ] && return
    if [ "$(id -u)" -ne 0 ]; then
        echo "packages: please install them: sudo apt-get update &&" \
            "sudo apt-get install ${missing[*]}" >&2
        return 1
    fi
    packages_update_once
    echo "packages: apt-get install ${missing[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        "${missing[@]}" >/dev/null
}
