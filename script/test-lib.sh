# Shared by script/test and its own test: runs suites, some beside each other, and counts and reports what they say.
#
# A suite is a command that prints its failures and ends with "NAME: N passed, N failed, N skipped". Its result is one line of $work/results:
# "PASSED FAILED SKIPPED SECONDS NAME".

work=$(mktemp -d)
trap 'stop_load; rm -rf "$work"' EXIT
: >"$work/results" && : >"$work/failures"
before_jobs=() queued_jobs=() after_jobs=() # each a command, quoted for eval
lanes=3 # most suites wait most of the time
busy=()
streaming=  # a suite that runs alone is seen while it runs
leak_check= # around all of it: suites check themselves, and their neighbours are not theirs to blame

first() { before_jobs+=("$(printf '%q ' "$@")"); } # by itself, before the queue
queue() { queued_jobs+=("$(printf '%q ' "$@")"); } # beside others
last() { after_jobs+=("$(printf '%q ' "$@")"); }   # by itself, after the queue

all_jobs() { printf '%s\n' "${before_jobs[@]}" "${queued_jobs[@]}" "${after_jobs[@]}" | grep . || true; }
any_job() { all_jobs | grep -E -- "$1" >/dev/null; } # reads all: with -q, the writer may get SIGPIPE
list_jobs() { all_jobs | sed -e "s|$root/||g" -e 's| $||' -e 's|^env ||' -e "s|meson_suite \([a-z]*\) .*|\1|" -e 's|^unit_suite |unit |' -e 's|^lint_suite|lint|'; }

# What a suite is called in reports: without the directories, and with what it was run against or limited to.
job_name() {
    local word name=
    for word in "$@"; do
        case $word in
        env | meson_suite | --verbose | "$build"/*) ;;
        COVE_*="$build/sanitized/"*) name+="sanitized " ;;
        unit_suite) name+="unit " ;;
        lint_suite) name+="lint " ;;
        *) name+="${word#test/} " ;;
        esac
    done
    echo "${name% }"
}

# One step that either works or does not.
check() {
    local since=$SECONDS
    if step "$@"; then
        record 1 0 0 "$since" "$1"
    else
        record 0 1 0 "$since" "$1"
        locked append_line "$1"
    fi
}

# A step without which there is nothing to test: a program of an older source says nothing about this one.
must() {
    local since=$SECONDS
    step "$@" || { record 0 1 0 "$since" "$1" && locked append_line "$1" && report_and_exit; }
    record 0 0 0 "$since" "$1"
}

# The same, of a script that tells its own steps.
must_script() {
    local since=$SECONDS
    attend "${@:2}" || { record 0 1 0 "$since" "$1" && locked append_line "$1" && report_and_exit; }
    record 0 0 0 "$since" "$1"
}

record() { # PASSED FAILED SKIPPED SINCE NAME
    locked append "$1 $2 $3 $((SECONDS - $4)) $5"
}
append() { echo "$*" >>"$work/results"; }
append_line() { echo "$*" >>"$work/failures"; }
locked() { ( flock 9 && "$@" ) 9>"$work/lock"; }

closing_line() { grep -E '^[a-z0-9-]+: [0-9]+ passed, [0-9]+ failed' "$1" | tail -n 1 || true; }
suite_passed() { [ "$2" = 0 ] && [[ $(closing_line "$1") =~ \ passed,\ 0\ failed ]]; }

# Runs a suite, shows what it said if that is worth a look, and records its result. One that fails without saying which case it was runs once
# more; that one has no say in the result: it tells whether the suite is unstable. Attempts to break out are not tried until they fail.
suite() {
    local log name since=$SECONDS status=0
    name=$(job_name "$@")
    log=$(mktemp -p "$work")
    if [ -n "$streaming" ]; then
        attend suite_streams "$log" "$@" || status=$?
    else
        attend "$@" >"$log" 2>&1 || status=$?
    fi
    suite_record "$log" "$status" "$since" "$name"
    if ! suite_passed "$log" "$status"; then
        locked append_failure "$log" "$name"
        if ! grep -qE '^(UNSTABLE|BROKEN) ' "$log" && [[ "$*" != *test/escape/* ]]; then suite_again "$name" "$@"; fi
    fi
    rm -f "$log"
}

suite_streams() { # LOG COMMAND…
    trap : HUP # as in a lane
    "${@:2}" 2>&1 | tee "$1"
}

suite_record() { # LOG STATUS SINCE NAME
    local last ok=0 bad=0 skip=0
    last=$(closing_line "$1")
    if [[ $last =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)? ]]; then
        ok=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]} skip=${BASH_REMATCH[4]:-0}
        [ "$2" = 0 ] || [ "$bad" != 0 ] || bad=1
    else
        bad=1
        echo "FAILED: $4 ended with status $2 and without its closing line" >>"$1"
        [ -z "$streaming" ] || tail -n 1 "$1"
    fi
    record "$ok" "$bad" "$skip" "$3" "$4"
    [ -n "$streaming" ] || locked show "$1" "$4 ($((SECONDS - $3)) s)"
}

# The closing line comes last, with the time that the suite took.
show() {
    local last
    last=$(closing_line "$1")
    if [ -n "$last" ]; then grep -vFx -- "$last" "$1" || true; else cat "$1"; fi
    echo "$2: ${last#*: }"
}

append_failure() { # LOG NAME
    awk -v suite="$2" '
        { key = $2; sub(/:$/, "", key) }
        $1 == "FAIL" && !(key in verdict) { verdict[key] = "failed"; name[++n] = substr($0, 6); of[n] = key }
        $1 == "UNSTABLE" || $1 == "BROKEN" { verdict[key] = $1 }
        END { for (i = 1; i <= n; i++) print suite ": " name[i] ": " verdict[of[i]]; if (!n) print suite }' "$1" >>"$work/failures"
}

suite_again() { # NAME COMMAND…
    local log name=$1 status=0 verdict=BROKEN
    shift
    log=$(mktemp -p "$work")
    COVE_TEST_AGAIN=no attend "$@" >"$log" 2>&1 || status=$?
    if suite_passed "$log" "$status"; then verdict=UNSTABLE; fi
    locked show "$log" "$name, once more"
    echo "$name: $verdict when run as a whole once more"
    locked append_line "$name: $verdict when run as a whole once more"
}

# The unit tests of a build directory, and the corpora of the fuzzers. What fails runs once more, for the report only.
meson_suite() { # NAME DIRECTORY
    local name=$1 dir=$2 out status=0 ok bad skip t
    out=$(meson test -C "$dir" --print-errorlogs --no-rebuild 2>&1) || status=$?
    count() { awk -v key="$1:" '$0 ~ "^" key { n += $NF } END { print n + 0 }' <<<"$out"; }
    ok=$(count Ok) skip=$(count Skipped) bad=$(($(count Fail) + $(count Timeout)))
    [ "$ok" -gt 0 ] || bad=$((bad + 1))
    [ "$bad" = 0 ] || echo "$out"
    if [ "$skip" != 0 ]; then
        grep -h '^skipped: ' "$dir"/meson-logs/testlog.txt || echo "$out"
        [ "${CI:-}" != true ] || bad=$((bad + skip))
    fi
    for t in $(sed -nE 's~^ *[0-9]+/[0-9]+ .* / ([a-z0-9-]+) +(FAIL|TIMEOUT) .*~\1~p' <<<"$out" | sort -u | head -n 5); do meson_again "$dir" "$t"; done
    echo "$name: $ok passed, $bad failed, $skip skipped"
    [ "$bad" = 0 ] && [ "$status" = 0 ]
}

meson_again() { # DIRECTORY TEST
    echo "FAIL $2"
    if meson test -C "$1" --print-errorlogs --no-rebuild --logbase again "$2" 2>&1; then
        echo "UNSTABLE $2: failed, then passed"
    else
        echo "BROKEN $2: failed, and failed again"
    fi
}

# One unit test, of which CASE is a part of a name or a pattern.
unit_suite() { # NAME [CASE]
    local name=$1 case=${2:-} out status=0 ok bad skip
    [[ -z $case || $case == *[*?]* ]] || case="*$case*"
    out=$("$build/native/test/test-$name" ${case:+"$case"} 2>&1) || status=$?
    ok=$(grep -cE '^\[ +OK \]' <<<"$out" || true) skip=$(grep -cE '^\[ +SKIPPED +\] [a-z]' <<<"$out" || true)
    bad=$(grep -E '^\[ +FAILED +\] [0-9]+ test' <<<"$out" | grep -oE '[0-9]+' | head -n 1 || true)
    bad=${bad:-0}
    [ "$status" = 0 ] || [ "$status" = 77 ] || [ "$bad" != 0 ] || bad=1
    [ $((ok + bad + skip)) -gt 0 ] || { echo "no case of test-$name matches '$case'" && bad=1; }
    [ "$bad" = 0 ] && [ ${#verbose[@]} = 0 ] || echo "$out"
    [ "$skip" = 0 ] || [ "${CI:-}" != true ] || bad=$((bad + skip))
    echo "$name: $ok passed, $bad failed, $skip skipped"
    [ "$bad" = 0 ]
}

lint_suite() {
    if script/lint; then echo "lint: 1 passed, 0 failed, 0 skipped"; else echo "lint: 0 passed, 1 failed, 0 skipped"; fi
}

# Takes jobs from the queue until it is empty.
lane() {
    local job
    trap : HUP # what it runs hears of that, and is below us only as long as this is here
    while job=$(locked take); do
        eval "suite $job"
    done
}
take() {
    local n
    n=$(cat "$work/next")
    [ "$n" -lt ${#queued_jobs[@]} ] || return 1
    echo $((n + 1)) >"$work/next"
    echo "${queued_jobs[$n]}"
}

run_jobs() {
    local job n lane_pids=()
    trap stop_below INT TERM HUP
    [ $((${#before_jobs[@]} + ${#queued_jobs[@]} + ${#after_jobs[@]})) -gt 1 ] || streaming=yes
    start_load
    [ -z "$leak_check" ] || /usr/bin/python3 "$root/test/lib/covetest.py" snapshot "$work/host"
    for job in "${before_jobs[@]}"; do eval "suite $job"; done
    echo 0 >"$work/next"
    for ((n = 0; n < lanes && n < ${#queued_jobs[@]}; n++)); do lane & lane_pids[n]=$!; done
    for n in "${!lane_pids[@]}"; do wait "${lane_pids[n]}" || record 0 1 0 "$SECONDS" "lane $n ended with status $?"; done
    for job in "${after_jobs[@]}"; do eval "suite $job"; done
    [ -z "$leak_check" ] || check "leak check over the whole run" /usr/bin/python3 "$root/test/lib/covetest.py" compare "$work/host"
}

# Busy loops that compete with the tests for the processors.
start_load() {
    local n
    for ((n = 0; n < load; n++)); do
        (trap - EXIT; while kill -0 $$; do :; done) 2>/dev/null &
        busy+=($!)
    done
}
stop_load() {
    [ ${#busy[@]} = 0 ] || kill "${busy[@]}" 2>/dev/null || true
}

report_and_exit() {
    local passed failed skipped n
    n=$(wc -l <"$work/results")
    if [ "$n" -gt 3 ]; then
        echo "The slowest of $n suites, in seconds:"
        sort -k4,4nr "$work/results" | awk 'NR <= 10 { s = $4; $1 = $2 = $3 = $4 = ""; printf "%6d %s\n", s, $0 }'
    fi
    if [ -s "$work/failures" ]; then
        echo "What failed:"
        sed 's|^|    |' "$work/failures"
    fi
    awk -v s=$((SECONDS - began)) 'BEGIN { printf "%.1f minutes\n", s / 60 }'
    read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$work/results")
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] && exit 0
    exit 1
}
