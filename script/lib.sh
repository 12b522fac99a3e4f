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
    attend "$@" >"$log" 2>&1 || status=$?
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
    trap - EXIT INT TERM HUP
    exec {pause}<> <(:)
    while kill -0 $$ 2>/dev/null; do
        read -r -t 10 -u "$pause" || true
        printf '%s: %d s … %s\n' "$1" $((SECONDS - since)) "$(tail -n 1 "$2" 2>/dev/null | tr -d '\r' | cut -c 1-120)" >&2
    done
}

# attend COMMAND…: runs it and waits. A signal is heard at once, not when the command has ended, and ends what runs below us first.
attend() {
    [ "$BASHPID" != $$ ] || trap stop_below INT TERM HUP # whoever tells a part of us to end, tells all that is below it
    "$@" <&0 &
    local child=$! status=0
    wait "$child" || status=$?
    while [ "$status" = 129 ] && [ -e "/proc/$child/exe" ]; do status=0 && wait "$child" || status=$?; done # of who stays on SIGHUP
    return "$status"
}

# Everything below us, whatever group or session it is in. Each part ends what it has started when it is told to end, so we tell all, and stay
# until they are gone. What runs in the background does not hear of Ctrl-C by itself.
stop_below() {
    local pids pid n=0
    trap '' INT TERM HUP
    echo "${0##*/}: stopping what runs" >&2 || true # the terminal may be what has gone
    rm -f "${log:-}" # of the step that runs
    pids=$(descendants $$)
    for pid in $pids; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in $pids; do
        while [ -e "/proc/$pid/exe" ] && [ $((n++)) -lt 600 ]; do sleep 0.1; done # a zombie has none
    done
    exit 143
}

# The processes below one, less those that look for them.
descendants() { # PID
    local child
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
        [ "$child" = "$BASHPID" ] && continue
        descendants "$child"
        [ ! -e "/proc/$child" ] || echo "$child"
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
