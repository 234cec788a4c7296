#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every style check can fail: each is shown a tree with one fault and must name it, and a clean tree
# and must stay silent. Prints "ok NAME" or "not ok NAME" lines; exit 1 if one is not ok.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# A small tree on which every check is silent.
clean_tree() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree"/{frame,merge,proto,liaison/http2,tests,deploy,.ci}
    cd "$scratch/tree"
    cp "$here/../../.clang-format" .
    printf '%s\n' '// SPDX-License-Identifier: Apache-2.0' '#pragma once' '' \
        'int msg_size(int rows);' >frame/msg.h
    printf '%s\n' '// SPDX-License-Identifier: Apache-2.0' '#include "frame/msg.h"' '' \
        'int msg_size(int rows)' '{' '    return rows * 8;' '}' >frame/msg.c
    printf '%s\n' '// SPDX-License-Identifier: Apache-2.0' '#include "frame/msg.h"' '' \
        'int link_size(void);' 'int link_size(void)' '{' '    return msg_size(2);' '}' \
        >liaison/http2/link.c
    printf '%s\n' '#!/usr/bin/env bash' '# SPDX-License-Identifier: Apache-2.0' \
        'set -euo pipefail' 'echo hello' >deploy/hello.sh
}

# Builds the objects as meson names them.
compile() {
    mkdir -p "$scratch/build/frame/libframe.a.p" "$scratch/build/liaison/libliaison.a.p"
    gcc -I. -c frame/msg.c -o "$scratch/build/frame/libframe.a.p/msg.c.o"
    gcc -I. -c liaison/http2/link.c -o "$scratch/build/liaison/libliaison.a.p/http2_link.c.o"
}

result() {
    if [ "$1" = 0 ]; then
        echo "ok $2"
    else
        echo "not ok $2"
        failed=1
    fi
}

# silent NAME COMMAND...: the clean tree has no fault.
silent() {
    local name=$1 status=0
    shift
    "$@" >"$scratch/output" 2>&1 || status=$?
    if [ "$status" = 77 ]; then
        echo "skip $name"
        return
    fi
    result "$status" "$name"
}

# catches NAME WORDS COMMAND...: the check fails and says WORDS.
catches() {
    local name=$1 words=$2 status=0
    shift 2
    "$@" >"$scratch/output" 2>&1 || status=$?
    if [ "$status" = 77 ]; then
        echo "skip $name"
        return
    fi
    if [ "$status" -ne 0 ] && grep -qF -- "$words" "$scratch/output"; then
        result 0 "$name"
    else
        sed 's/^/    /' "$scratch/output"
        result 1 "$name"
    fi
}

clean_tree
silent 'floors: silent on a clean tree' "$here/floors.sh" .
silent 'size: silent on a clean tree' "$here/size.py" .
silent 'texts: silent on a clean tree' "$here/texts.sh" .
silent 'scripts: silent on a clean tree' "$here/scripts.sh" .
silent 'format: silent on a clean tree' "$here/format.sh" .
printf '%s\n' '    log_info(log, MODULE, "begins; at=%d how:%s", 1, "{}");' >liaison/log_lines.c
silent 'log formats: silent on a good one' "$here/log_formats.py" .
printf '%s\n' '    log_warn(owner->log, MODULE, "ends; and how", 1);' >>liaison/log_lines.c
catches 'log formats: words where fields belong' "'and' behind the first" "$here/log_formats.py" .
clean_tree
catches 'log formats: none at all' 'no log line was found' "$here/log_formats.py" .
compile
silent 'symbols: silent on a clean tree' "$here/symbols.sh" "$scratch/build" .

clean_tree
sed -i '2i #include "liaison/http2/link.h"' frame/msg.c && touch liaison/http2/link.h
catches 'floors: an include from above' 'which is above it' "$here/floors.sh" .
clean_tree
sed -i 's#"frame/msg.h"#"msg.h"#' frame/msg.c
catches 'floors: an include not from the root' 'not written from the root' "$here/floors.sh" .
clean_tree
sed -i '2i #include <sys/socket.h>' frame/msg.c
catches 'floors: a socket on a pure floor' '<sys/socket.h> does not belong' "$here/floors.sh" .
clean_tree
sed -i 's/return rows/return (int)time(0) + rows/' frame/msg.c
catches 'floors: a clock on a pure floor' 'calls time()' "$here/floors.sh" .
clean_tree
sed -i '2i #include <event2/event.h>' frame/msg.h
catches 'floors: an event loop below liaison/' '<event2/event.h> does not belong' \
    "$here/floors.sh" .

clean_tree
sed -i 's/msg_size/size_of_msg/' frame/msg.[ch] liaison/http2/link.c
compile
catches 'symbols: a name without its file' 'does not begin with msg_' \
    "$here/symbols.sh" "$scratch/build" .
clean_tree
sed -i 's/link_size/nghttp2_size/' liaison/http2/link.c
compile
catches "symbols: a library's name" "could be taken for a library's" \
    "$here/symbols.sh" "$scratch/build" .
clean_tree
cp frame/msg.c merge/msg.c
catches 'symbols: a stem used twice' 'stem msg is used twice' \
    "$here/symbols.sh" "$scratch/build" .
clean_tree
catches 'symbols: a folder without objects' 'no object' "$here/symbols.sh" "$scratch/tree" .

clean_tree
sed -i 's/^    return rows/  return rows/' frame/msg.c
catches 'format: two blanks for four' 'frame/msg.c' "$here/format.sh" .

clean_tree
{
    printf '%s\n' 'int msg_long(int rows);' 'int msg_long(int rows)' '{'
    for _ in $(seq 60); do echo '    rows++;'; done
    printf '%s\n' '    return rows;' '}'
} >>frame/msg.c
catches 'size: a function of 64 lines' 'msg_long has 64 lines' "$here/size.py" .

clean_tree
echo "// see /""home/someone/notes" >>frame/msg.c
catches 'texts: a path of some machine' 'a path of some machine' "$here/texts.sh" .
clean_tree
echo "// written by C""laude" >>frame/msg.c
catches 'texts: the name of a tool' 'the name of a tool' "$here/texts.sh" .
clean_tree
echo "// TO""DO: later" >>frame/msg.c
catches 'texts: something left to do' 'something left to do' "$here/texts.sh" .
clean_tree
echo "// as is""sue 12 asks" >>frame/msg.c
catches "texts: an issue's number" "an issue's number" "$here/texts.sh" .
clean_tree
echo "// as query""-semantics 1.2 says" >>frame/msg.c
catches 'texts: a document that is not here' 'a document that is not here' "$here/texts.sh" .
clean_tree
sed -i 1d frame/msg.c
catches 'texts: a file without a licence' 'no SPDX-License-Identifier line' "$here/texts.sh" .

clean_tree
echo 'if true; then' >>deploy/hello.sh
catches 'scripts: a script that does not parse' 'does not parse' "$here/scripts.sh" .
clean_tree
sed -i '/^set -euo/d' deploy/hello.sh
catches 'scripts: a script that goes on after errors' "no 'set -euo pipefail'" \
    "$here/scripts.sh" .
clean_tree
echo 'def broken(:' >tests/broken.py
catches 'scripts: a Python file that does not parse' 'does not parse' "$here/scripts.sh" .
clean_tree
echo 'Then `py''thon3 tests/datanode` runs.' >deploy/README.md
catches 'scripts: a Python that may lack the packages' 'is the one that has the packages' \
    "$here/scripts.sh" .

clean_tree
cp "$here/../../.clang-tidy" .
file=$PWD/liaison/http2/link.c
printf '%s\n' 'int link_size(void)' '{' '    for (int i = 0; i < 3; i++)' '        if (i == 2)' \
    '            return i;' '        else' '            return 0;' '    return 1;' '}' >>frame/msg.c
printf '[{"directory": "%s", "file": "%s", "command": "cc -I. -c %s"}]' "$PWD" "$file" "$file" \
    >compile_commands.json
silent 'tidy: silent on a clean file' "$here/tidy.sh" "$PWD" "$file"
cp frame/msg.c "$file"
catches 'tidy: statements without braces' 'readability-braces-around-statements' \
    "$here/tidy.sh" "$PWD" "$file"

exit "$failed"
