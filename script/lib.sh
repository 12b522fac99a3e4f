# Shared by the scripts: where we are, quiet steps that say exactly what failed.
set -euo pipefail
unset CDPATH

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build"
export PATH="/usr/sbin:/usr/bin:/sbin:/bin:$PATH" # the distribution's python3 and meson before anybody's own

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo

# step NAME COMMAND…: silent when it works, else its whole output.
step() {
    local name=$1 log status=0
    shift
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    if [ "$status" != 0 ]; then
        cat "$log" >&2
        echo "FAILED: $name (exit $status): $*" >&2
    fi
    rm -f "$log"
    return "$status"
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
