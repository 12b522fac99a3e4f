# Shared by the scripts: where we are, quiet steps that say exactly what failed.
set -euo pipefail
unset CDPATH
umask 022 # coved, another user by then, executes what is built

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build"
export PATH="/usr/sbin:/usr/bin:/sbin:/bin:$PATH" # the distribution's python3 and meson before anybody's own

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo

# step NAME COMMAND…: its time when it took some, a line every ten seconds until then, its whole output when it fails.
step() {
    local name=$1 log status=0 since=$SECONDS watcher
    shift
    log=$(mktemp)
    step_watch "$name" "$log" &
    watcher=$!
    "$@" >"$log" 2>&1 || status=$?
    kill "$watcher" 2>/dev/null || true
    wait "$watcher" 2>/dev/null || true
    if [ "$status" != 0 ]; then
        cat "$log" >&2
        echo "FAILED: $name (exit $status): $*" >&2
    elif [ $((SECONDS - since)) -ge 2 ]; then
        echo "$name: $((SECONDS - since)) s" >&2
    fi
    rm -f "$log"
    return "$status"
}

# What a step has said last. It waits on a pipe that nobody writes to: a sleep would outlive us, with our output in its hands.
step_watch() { # NAME LOG
    local pause since=$SECONDS
    trap - EXIT INT TERM
    exec {pause}<> <(:)
    while kill -0 $$ 2>/dev/null; do
        read -r -t 10 -u "$pause" || true
        printf '%s: %d s … %s\n' "$1" $((SECONDS - since)) "$(tail -n 1 "$2" 2>/dev/null | tr -d '\r' | cut -c 1-120)" >&2
    done
}

# With ccache, what one build directory has compiled is not compiled again by the next: objects do not depend on the directory.
ccache=
if command -v ccache >/dev/null; then
    ccache=ccache
    export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
fi

# configure NAME COMPILER OPTION…: the build directory of that name, unless it is there. A compiler of '' is one that OPTION… names.
configure() {
    local dir="$build/$1" compiler=$2
    shift 2
    [ ! -f "$dir/build.ninja" ] || return 0
    CC=${compiler:+${ccache:+$ccache }$compiler} step "meson setup ${dir##*/}" meson setup "$dir" "$root" "$@"
}
