#!/bin/bash
# inside.sh: the cases, run by root in the guest after init has made it a machine.
# Lays out the cgroups, runs every case (or those in arg_cases) and writes the results to ttyS1. Each case has a
# process of its own, so one that hangs or dies takes nothing along.
#
# A case is a function case_NAME; it passes when it returns, fails through fail(), and is left out through skip().
# After each one the machine must be as before: the same cgroups, mounts, namespaces, processes, loop devices, files.

set -u
PATH=/usr/local/bin:/usr/sbin:/usr/bin
export PATH
. /test/config

cgroups=/sys/fs/cgroup
session=$cgroups/user.slice/session-1.scope
case_seconds=300
dir=/tmp/case

# ---- the cases' vocabulary -------------------------------------------------------------------------------------

fail() {
    echo "$*" >"$dir/reason"
    exit 1
}

# skip REASON CURE
skip() {
    echo "$1; cure: $2" >"$dir/reason"
    exit 77
}

# cove_run ARG…: `cove run` with a report; leaves rc, out, err and the report's text behind. The array `as` goes
# before it, to run it as somebody else or somewhere else.
as=()
cove_run() {
    rm -f "$dir/report.json"
    rc=0
    "${as[@]}" cove run --report "$dir/report.json" "$@" </dev/null >"$dir/out" 2>"$dir/err" || rc=$?
    report=$(tr -d '\n' 2>/dev/null <"$dir/report.json")
}

# field NAME: a scalar of the report, without quotes.
field() {
    sed -nE "s/.*\"$1\" *: *(\"([^\"]*)\"|([a-z0-9.-]+)).*/\2\3/p" <<<"$report"
}

# whole NAME: a number of the report without its fraction, for the shell's arithmetic.
whole() {
    local value
    value=$(field "$1")
    echo "${value%%.*}"
}

# list NAME: an array of the report, on one line.
list() {
    sed -nE "s/.*\"$1\" *: *\[([^]]*)\].*/\1/p" <<<"$report" | sed -E 's/^ +| +$//g'
}

# expect_guards all|cgroup: that none of them is missing. A plain user has no id range of its own, root has all.
expect_guards() {
    local missing pattern='.'
    missing=$(list guards_missing)
    if [[ $1 == cgroup ]]; then
        pattern='"(memory|cpu|pids|io)"'
    fi
    [[ $report == *'"guards_missing"'* ]] || fail "the report does not tell which guards are missing"
    [[ ! $missing =~ $pattern ]] || fail "guards are missing: $missing"
}

expect_rc() {
    [[ $rc -eq $1 ]] || fail "exit status $rc, wanted $1"
}

expect_field() {
    local value
    value=$(field "$1")
    [[ $value == "$2" ]] || fail "report: $1 is '$value', wanted '$2'"
}

# expect_between WHAT VALUE LOW HIGH
expect_between() {
    [[ $2 =~ ^[0-9]+$ ]] || fail "$1 is '$2', wanted a number from $3 to $4"
    (($2 >= $3 && $2 <= $4)) || fail "$1 is $2, wanted $3 to $4"
}

# expect_match FILE PATTERN
expect_match() {
    grep -Eq -- "$2" "$dir/$1" || fail "$1 does not match '$2'"
}

cpu_ms() {
    echo $(($(whole cpu_user_ms) + $(whole cpu_system_ms)))
}

# measure COMMAND…: one that sets value, low and high, a time of the processor in ms and its bounds. The host may let this machine stand
# still for a while, which counts for whoever had the processor: one good round of four is enough. Without a limit none is.
measure() {
    local round value low high
    for round in 1 2 3 4; do
        "$@"
        if [[ $value =~ ^[0-9]+$ ]] && ((value >= low && value <= high)); then
            return 0
        fi
        echo "round $round: $value ms of the processor, not $low to $high"
    done
    expect_between "cpu ms" "$value" "$low" "$high"
}

# wait_for SECONDS COMMAND…: until the command is true.
wait_for() {
    local tenths=$(($1 * 10))
    shift
    while ! "$@"; do
        ((tenths-- > 0)) || return 1
        sleep 0.1
    done
}

# A tree of two shells that burn whatever CPU they get.
burn='busybox sh -c "while :; do :; done" & while :; do :; done'

# Forty processes, or an error; bash would try again for a minute when it cannot fork.
# shellcheck disable=SC2016
crowd='i=0; while [ $i -lt 40 ]; do sleep 20 & i=$((i + 1)); done; exit 0'

# ---- who and where ---------------------------------------------------------------------------------------------

# in_cgroup DIR: puts commands into that cgroup, as root.
in_cgroup() {
    as=(bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$1" "${as[@]}")
}

as_user() {
    chown 1000:1000 "$dir"
    as=(setpriv --reuid 1000 --regid 1000 --clear-groups
        env -i "PATH=$PATH" HOME=/home/tester USER=tester XDG_RUNTIME_DIR=/run/user/1000)
}

# What systemd does for Delegate=yes: the user owns the directory and the files that /sys/kernel/cgroup/delegate names,
# not the limits of the directory itself.
delegate() {
    local name
    mkdir -p "$1"
    chown 1000:1000 "$1"
    for name in $(</sys/kernel/cgroup/delegate); do
        if [[ -e $1/$name ]]; then
            chown 1000:1000 "$1/$name"
        fi
    done
}

# enable DIR CONTROLLER…: for the children of DIR.
enable() {
    local parent=$1 controller
    shift
    for controller; do
        echo "+$controller" >"$parent/cgroup.subtree_control"
    done
}

# ---- the machine itself ----------------------------------------------------------------------------------------

case_kernel_has_pure_cgroup_v2() {
    local controller
    [[ $(stat -f -c %T $cgroups) == cgroup2fs ]] || fail "$cgroups is not cgroup2"
    grep -q ' - cgroup ' /proc/self/mountinfo && fail "cgroup v1 is mounted"
    for controller in cpu io memory pids; do
        grep -qw $controller $cgroups/cgroup.controllers || fail "no $controller controller"
    done
    [[ $(</proc/self/cgroup) == 0::/user.slice/session-1.scope ]] || fail "we are in $(</proc/self/cgroup)"
}

case_kernel_root_can_be_pivoted() {
    [[ $(stat -f -c %T /) == ext2/ext3 ]] || fail "/ is $(stat -f -c %T /)"
    grep -qw overlay /proc/filesystems || fail "no overlay"
    grep -q landlock /sys/kernel/security/lsm || fail "no landlock"
}

case_kernel_lets_users_make_namespaces() {
    as_user
    "${as[@]}" unshare --user --map-root-user --pid --mount --net --fork true || fail "unshare failed"
}

# ---- root, in a session as after login ---------------------------------------------------------------------------

case_run_has_every_guard() {
    cove_run -- true
    expect_rc 0
    expect_field reason exited
    expect_field exit_code 0
    [[ -s $dir/err ]] && fail "stderr is not empty"
    [[ $(list guards) == *user* ]] || fail "the report lists no guards"
    expect_guards all
}

case_run_passes_streams_and_status() {
    rc=0
    printf 'a\0b' | cove run -- bash -c 'cat; echo oops >&2; exit 7' >"$dir/out" 2>"$dir/err" || rc=$?
    expect_rc 7
    [[ $(od -An -c <"$dir/out" | tr -d ' ') == 'a\0b' ]] || fail "stdout differs"
    [[ $(<"$dir/err") == oops ]] || fail "stderr differs"
}

case_run_tells_a_signal() {
    cove_run -- bash -c 'kill -9 $$'
    expect_rc 137
    expect_field reason signaled
    expect_field signal 9
}

case_run_hides_the_host() {
    cove_run -- bash -c '
        cat /etc/shadow /root/secret /etc/machine-id 2>/dev/null
        ls /home/tester 2>/dev/null
        [[ $(cat /proc/self/cgroup) == 0::/ ]] || cat /proc/self/cgroup
        ls /sys/fs/cgroup 2>/dev/null
        true'
    expect_rc 0
    [[ -s $dir/out ]] && fail "the guest sees: $(<"$dir/out")"
}

case_run_as_root_is_nobody_outside() {
    cove_run --user root -- bash -c '
        id -u && touch /etc/made && chown 7:7 /etc/made && stat -c %u /etc/made && rm /etc/hosts && ls -d /usr/bin'
    expect_rc 0
    [[ $(tr '\n' ' ' <"$dir/out") == '0 7 /usr/bin ' ]] || fail "output: $(<"$dir/out")"
    [[ ! -e /etc/made && -e /etc/hosts ]] || fail "the host's /etc changed"
}

case_memory_limit_is_told_from_a_kill() {
    cove_run --memory 64M -- dd if=/dev/zero of=/dev/null bs=256M count=1
    expect_rc 137
    expect_field reason memory
    expect_between memory_peak_bytes "$(whole memory_peak_bytes)" $((32 << 20)) $((65 << 20))
}

case_memory_limit_counts_files_in_memory() {
    cove_run --memory 64M -- dd if=/dev/zero of=/dev/shm/fill bs=1M count=256
    [[ $rc -ne 0 ]] || fail "256M of files in memory fit into 64M"
}

case_memory_limit_lets_less_pass() {
    cove_run --memory 128M -- dd if=/dev/zero of=/dev/null bs=32M count=1
    expect_rc 0
    expect_field reason exited
    expect_between memory_peak_bytes "$(whole memory_peak_bytes)" $((32 << 20)) $((100 << 20))
}

case_pids_limit() {
    cove_run --pids 16 -- busybox sh -c "$crowd"
    [[ $rc -ne 0 ]] || fail "40 processes fit into 16"
    expect_match err "fork"
    expect_between pids_peak "$(whole pids_peak)" 10 16
}

case_fork_bomb_ends() {
    cove_run --pids 64 --timeout 3s -- busybox sh -c 'f() { f & f; }; f'
    expect_between wall_ms "$(whole wall_ms)" 0 60000
}

case_cpus_quota() {
    measure run_for_quota 3s 100 40
}

# run_for_quota TIMEOUT LEAST PERCENT: a quarter of a processor, for so long.
run_for_quota() {
    cove_run --cpus 0.25 --timeout "$1" -- bash -c "$burn"
    expect_rc 124
    value=$(cpu_ms) low=$2 high=$(($(whole wall_ms) * $3 / 100))
}

case_cpu_time_counts_the_whole_tree() {
    measure run_for_cpu_time
}

run_for_cpu_time() {
    cove_run --cpu-time 1s --timeout 60s -- bash -c "$burn"
    expect_rc 124
    expect_field reason cpu_time
    value=$(cpu_ms) low=900 high=2500
}

case_timeout() {
    cove_run --timeout 1s -- sleep 30
    expect_rc 124
    expect_field reason timeout
    expect_between wall_ms "$(whole wall_ms)" 1000 25000
}

case_usage_is_plausible() {
    measure run_for_usage
    expect_between pids_peak "$(whole pids_peak)" 1 4
}

run_for_usage() {
    cove_run -- dd if=/dev/zero of=/dev/null bs=1M count=200
    expect_rc 0
    value=$(cpu_ms) low=$(($(whole wall_ms) * 30 / 100)) high=$(($(whole wall_ms) * 110 / 100 + 200))
}

case_io_is_counted() {
    mkdir -m 0777 /var/tmp/io
    cove_run --bind /var/tmp/io:/io:rw -- dd if=/dev/zero of=/io/file bs=1M count=8 oflag=direct
    rm -rf /var/tmp/io
    expect_rc 0
    expect_between io_write_bytes "$(whole io_write_bytes)" $((8 << 20)) $((12 << 20))
}

case_disk_limit() {
    local where
    for where in /workspace /tmp /home/user; do
        cove_run --disk 16M -- dd if=/dev/zero of=$where/fill bs=1M count=64
        [[ $rc -ne 0 ]] || fail "64M in $where fit into 16M"
        expect_match err "No space left on device"
    done
    cove_run --disk 64M -- dd if=/dev/zero of=/workspace/fill bs=1M count=16
    expect_rc 0
}

# More disk than memory: the writable layer is on a disk, and filling it is no matter of memory.
case_disk_limit_beyond_memory() {
    cove_run --memory 32M --disk 48M -- dd if=/dev/zero of=/workspace/fill bs=1M count=96 oflag=direct
    expect_rc 1
    expect_match err "No space left on device"
    expect_field disk_full true
}

case_template_can_be_rewritten() {
    cove_run --user root -- bash -c '
        rm -rf /usr/share /etc && mkdir /usr/share /etc && touch /usr/share/x && ls /usr/share /etc'
    expect_rc 0
    [[ $(tr -s '\n' ' ' <"$dir/out") == '/etc: /usr/share: x ' ]] || fail "output: $(<"$dir/out")"
    [[ -e /usr/share && -e /etc/passwd ]] || fail "the host changed"
}

case_many_at_once() {
    local i pids=()
    for i in 1 2 3 4 5 6 7 8; do
        cove run -- true >>"$dir/out" 2>&1 &
        pids+=($!)
    done
    for i in "${pids[@]}"; do
        wait "$i" || fail "one of eight ended with $?"
    done
}

# Starts a sandbox with a tree of processes in the background and waits until it is busy; leaves its pid in `cove`.
start_busy_sandbox() {
    rm -f "$dir/out"
    # A shell starts background commands with SIGINT ignored.
    "${as[@]}" env --default-signal=INT cove run --memory 64M --disk 16M "$@" -- \
        bash -c 'sleep 1000 & setsid sleep 1000 & echo up; wait' >"$dir/out" 2>"$dir/err" </dev/null &
    cove=$!
    wait_for 60 grep -q up "$dir/out" || fail "the sandbox did not start"
}

nothing_runs_inside() {
    ! grep -lqs 'sleep.1000' /proc/[0-9]*/cmdline
}

case_kill_of_cove_leaves_nothing() {
    start_busy_sandbox
    kill -9 "$cove"
    wait "$cove"
    wait_for 60 nothing_runs_inside || fail "processes of the sandbox live on"
}

case_terminating_cove_ends_the_sandbox() {
    local signal
    for signal in TERM INT; do
        start_busy_sandbox --report "$dir/report.json"
        kill -$signal "$cove"
        rc=0
        wait "$cove" || rc=$?
        [[ $rc -ne 0 ]] || fail "exit status 0 after SIG$signal"
        report=$(tr -d '\n' <"$dir/report.json")
        expect_field reason cancelled
        wait_for 60 nothing_runs_inside || fail "processes of the sandbox live on after SIG$signal"
    done
}

# ---- cgroups laid out in other ways --------------------------------------------------------------------------------

# Limits either work, or are refused with a line that says what is missing; silence would be a lie.
expect_limits_or_refusal() {
    cove_run --memory 64M -- dd if=/dev/zero of=/dev/null bs=256M count=1
    if [[ $rc -eq 125 ]]; then
        expect_match err "cgroup|memory"
        return 0
    fi
    [[ $rc -ne 0 ]] || fail "256M fit into 64M"
}

case_cgroup_root_holds_us() {
    in_cgroup $cgroups
    cove_run -- true
    expect_rc 0
    expect_guards all
    cove_run --memory 64M -- dd if=/dev/zero of=/dev/null bs=256M count=1
    expect_rc 137
    expect_field reason memory
}

case_cgroup_controllers_not_enabled() {
    local controller
    for controller in cpu io memory pids; do
        echo "-$controller" >$cgroups/user.slice/cgroup.subtree_control
        echo "-$controller" >$cgroups/cgroup.subtree_control
    done
    cove_run -- true
    if [[ $rc -eq 125 ]]; then
        expect_match err "cgroup|controller"
    else
        expect_rc 0
        expect_guards all
        cove_run --memory 64M -- dd if=/dev/zero of=/dev/null bs=256M count=1
        expect_rc 137
        expect_field reason memory
    fi
    enable_as_systemd
}

case_cgroup_not_mounted() {
    as=(unshare --mount bash -c 'umount -l /sys/fs/cgroup && exec "$@"' - "${as[@]}")
    expect_limits_or_refusal
}

case_cgroup_left_out_by_name() {
    local guard options=()
    for guard in memory cpu pids io; do
        options+=(--allow-missing "$guard")
    done
    as=(unshare --mount bash -c 'umount -l /sys/fs/cgroup && exec "$@"' - "${as[@]}")
    cove_run "${options[@]}" -- true
    expect_rc 0
    for guard in memory cpu pids io; do
        [[ $(list guards_missing) == *"\"$guard\""* ]] || fail "$guard is left out, and the report does not say so"
    done
}

case_cgroup_read_only() {
    as=(unshare --mount bash -c 'mount -o remount,bind,ro /sys/fs/cgroup && exec "$@"' - "${as[@]}")
    expect_limits_or_refusal
}

# ---- a plain user ------------------------------------------------------------------------------------------------

case_user_without_delegation_runs_and_is_told() {
    as_user
    cove_run -- id -u
    expect_rc 0
    expect_match out '^1000$'
    [[ $(list guards_missing) ]] || fail "no cgroup right, and the report lists nothing as missing"
}

case_user_without_delegation_has_no_silent_limit() {
    as_user
    expect_limits_or_refusal
}

case_user_without_delegation_timeout() {
    as_user
    cove_run --timeout 1s -- sleep 30
    expect_rc 124
    expect_field reason timeout
}

case_user_without_delegation_cpu_time() {
    as_user
    cove_run --cpu-time 1s --timeout 60s -- bash -c 'while :; do :; done'
    expect_rc 124
    expect_field reason cpu_time
}

case_user_without_delegation_kill_leaves_nothing() {
    as_user
    start_busy_sandbox
    kill -9 "$cove"
    wait "$cove"
    wait_for 60 nothing_runs_inside || fail "processes of the sandbox live on"
}

case_user_writes_where_it_should() {
    as_user
    cove_run -- bash -c 'for d in /workspace /tmp /home/user /dev/shm; do touch $d/x && rm $d/x || echo $d; done'
    expect_rc 0
    [[ -s $dir/out ]] && fail "not writable: $(<"$dir/out")"
    cove_run --user root -- bash -c 'rm -rf /etc && mkdir /etc && touch /etc/x && ls /etc'
    expect_rc 0
    expect_match out '^x$'
}

case_user_disk_limit() {
    as_user
    cove_run --disk 16M -- dd if=/dev/zero of=/workspace/fill bs=1M count=64
    [[ $rc -ne 0 ]] || fail "64M fit into 16M"
    [[ $rc -eq 125 ]] || expect_match err "No space left on device"
}

expect_user_limits() {
    cove_run -- true
    expect_rc 0
    expect_guards cgroup
    cove_run --memory 64M -- dd if=/dev/zero of=/dev/null bs=256M count=1
    expect_rc 137
    expect_field reason memory
    cove_run --pids 16 -- busybox sh -c "$crowd"
    [[ $rc -ne 0 ]] || fail "40 processes fit into 16"
    measure run_for_quota 2s 50 45
}

# expect_unused_scope DIR: a delegated cgroup holds nothing of ours, and can go.
expect_unused_scope() {
    local left
    left=$(find "$1" -mindepth 1 -type d)
    [[ -z $left ]] || fail "left behind: $left"
    wait_for 60 rmdir "$1" 2>/dev/null || fail "the delegated cgroup is still in use"
}

remove_cgroups() {
    find "$1" -depth -type d -exec rmdir {} +
}

# cove alone in a delegated directory: systemd-run --user --scope -p Delegate=yes cove run …
case_user_with_delegation() {
    local scope=$cgroups/user.slice/run-1.scope
    enable $cgroups/user.slice cpu io memory pids
    delegate $scope
    as_user
    in_cgroup $scope
    expect_user_limits
    expect_unused_scope $scope
}

# As the user's own service manager does it: we sit in one child of a delegated directory, others may sit beside.
case_user_with_delegated_parent() {
    local service=$cgroups/user.slice/user@1000.service
    enable $cgroups/user.slice cpu io memory pids
    delegate $service
    enable $service cpu io memory pids
    delegate $service/own.scope
    as_user
    in_cgroup $service/own.scope
    expect_user_limits
    expect_unused_scope $service/own.scope
    expect_unused_scope $service
}

case_user_with_delegation_kill_leaves_nothing() {
    local scope=$cgroups/user.slice/run-4.scope
    enable $cgroups/user.slice cpu io memory pids
    delegate $scope
    as_user
    in_cgroup $scope
    start_busy_sandbox
    kill -9 "$cove"
    wait "$cove"
    wait_for 60 nothing_runs_inside || fail "processes of the sandbox live on"
    wait_for 60 scope_is_empty $scope || fail "left behind: $(find $scope -mindepth 1 -type d)"
    expect_unused_scope $scope
}

scope_is_empty() {
    [[ -z $(find "$1" -mindepth 1 -type d) ]]
}

# The shell that calls cove sits in the delegated directory too, and stays there.
case_user_with_delegation_and_company() {
    local scope=$cgroups/user.slice/run-2.scope
    enable $cgroups/user.slice cpu io memory pids
    delegate $scope
    echo $BASHPID >$scope/cgroup.procs
    as_user
    cove_run -- true
    expect_rc 0
    expect_limits_or_refusal
    echo $BASHPID >$session/cgroup.procs
    expect_unused_scope $scope
}

# Only some controllers reach the user, as on distributions whose user@.service delegates memory and pids.
case_user_with_partial_delegation() {
    local scope=$cgroups/user.slice/run-3.scope
    delegate $scope
    as_user
    in_cgroup $scope
    cove_run -- true
    [[ $rc -eq 0 || $rc -eq 125 ]] || fail "exit status $rc, wanted 0 or 125"
    if [[ $rc -eq 0 && -z $(list guards_missing) ]]; then
        fail "no cpu controller, and the report lists nothing as missing"
    fi
    cove_run --memory 64M -- dd if=/dev/zero of=/dev/null bs=256M count=1
    [[ $rc -ne 0 ]] || fail "256M fit into 64M"
    remove_cgroups $scope
}

# ---- attempts to get out ---------------------------------------------------------------------------------------------

# Those that need nothing more prepared (a gate among it) on the host and do not end the shell, all in one sandbox; the escape suite has
# them all, each in its own.
case_probe_finds_no_way_out() {
    local user facts
    command -v cove-probe >/dev/null || skip "no build/test/cove-probe" "script/build"
    echo token-of-the-host >"$dir/marker"
    facts=(--env COVE_ESCAPE_TEST=1 --env "COVE_ESCAPE_PIDNS=$(readlink /proc/self/ns/pid)"
        --env "COVE_ESCAPE_ROOT=$(stat -c %d:%i /)" --env "COVE_ESCAPE_MARKER=$dir/marker"
        --env COVE_ESCAPE_TOKEN=token-of-the-host)
    for user in user root; do
        # shellcheck disable=SC2046  # names are words
        cove_run --user $user "${facts[@]}" --timeout 200s -- bash -c '
            held=0
            for name; do
                cove-probe "$name" >/tmp/said 2>&1 </dev/null
                case $? in
                0) held=$((held + 1)) ;;
                1) echo "$name: $(</tmp/said)" ;;
                esac
            done
            echo "$held held"' - $(cove-probe --list | awk -F '\t' -v user=$user \
                '($2 == user || $2 == "both") && $3 != "wrecks" && $1 !~ /^(limit|info|process-kill|gate)/ { print $1 }')
        expect_field reason exited
        [[ $(<"$dir/out") =~ ^([0-9]+)\ held$ ]] || fail "as $user: $(<"$dir/out")"
        expect_between "attempts made as $user" "${BASH_REMATCH[1]}" 60 1000
    done
}

# ---- doctor --------------------------------------------------------------------------------------------------------

run_doctor() {
    rc=0
    "${as[@]}" cove doctor "$@" >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
}

case_doctor_is_content_with_root() {
    run_doctor
    expect_rc 0
    run_doctor --json
    expect_rc 0
    expect_match out '^[[{]'
}

case_doctor_tells_a_user_what_is_missing() {
    as_user
    run_doctor
    [[ $rc -ne 0 ]] || fail "exit status 0, though no cgroup is delegated"
    expect_match out "[Dd]elegat"
}

# ---- the runner ----------------------------------------------------------------------------------------------------

enable_as_systemd() {
    enable $cgroups cpuset cpu io memory pids
    enable $cgroups/user.slice memory pids
}

lay_out_cgroups() {
    mkdir $cgroups/init.scope $cgroups/system.slice $cgroups/user.slice
    enable_as_systemd
    mkdir $session
    echo 1 >$cgroups/init.scope/cgroup.procs
    echo $$ >$session/cgroup.procs
}

# Everything a sandbox could leave behind, one thing per line; the files whose locks are ranges of user ids may stay.
# Few processes: each costs 10 to 40 ms here.
snapshot() {
    local file line
    find $cgroups /tmp /run /var /home /root /dev/shm /proc/[0-9]*/ns/{pid,net,user,mnt,ipc} \
        \( -path $dir -o -path /run/cove-ids \) -prune -o -path '/proc/*' -printf '%l\n' -o -path '/sys/*' ! -type d -o -print 2>/dev/null
    grep -hEs '^State:.Z|^Name:.cove' /proc/[0-9]*/status
    for file in /proc/1/mountinfo /sys/block/loop*/loop/backing_file; do
        while read -r line; do
            echo "$file: $line"
        done <"$file"
    done 2>/dev/null
}

result() {
    echo "$*" >&3
}

notes() {
    local name
    for name in log out err; do
        if [[ -s $dir/$name ]]; then
            head -c 1000 "$dir/$name" | tr -c ' -~\n\t' '?' | sed "s/^/# $name: /" >&3
            result ""
        fi
    done
    if [[ -s $dir/report.json ]]; then
        result "# report: $(tr -d '\n' <$dir/report.json | tr -s ' ')"
    fi
}

same_as_before() {
    after=$(snapshot | sort -u)
    [[ $after == "$before" ]]
}

# start_case NAME: in the background and in a process group of its own; its exit status comes through descriptor 4.
# A fresh bash would cost 200 ms.
start_case() {
    set -m
    (
        set +m
        trap 'echo $? >&4' EXIT
        exec >"$dir/log" 2>&1 </dev/null
        "case_$1"
        exit 0
    ) &
    set +m
}

# run_case NAME
run_case() {
    local rc began=${EPOCHREALTIME/./} pid
    busybox rm -rf $dir
    busybox mkdir $dir
    result "case $1"
    start_case "$1"
    pid=$!
    read -r -t $case_seconds -u 4 rc || rc=124
    kill -KILL -- -$pid 2>/dev/null
    wait $pid 2>/dev/null

    if [[ $rc -eq 0 ]] && ! wait_for 60 same_as_before; then
        diff <(echo "$before") <(echo "$after") | sed -n 's/^[-+][^-+]/# &/p' >&3
        notes
        result "not ok $1: left something behind (+) or took something away (-)"
        before=$after
        return
    fi
    case $rc in
    0) result "ok $1 ($(((${EPOCHREALTIME/./} - began) / 1000)) ms)" ;;
    77) result "skip $1: $(<$dir/reason)" ;;
    124)
        notes
        result "not ok $1: took longer than $case_seconds s"
        ;;
    *)
        notes
        result "not ok $1: $(cat $dir/reason 2>/dev/null || echo "the case itself ended with $rc")"
        ;;
    esac
    if [[ $rc -ne 0 ]]; then
        enable_as_systemd
        wait_for 60 same_as_before
        before=$after
    fi
}

wanted() {
    local pattern
    [[ $arg_cases ]] || return 0
    for pattern in $arg_cases; do
        # shellcheck disable=SC2053  # a pattern on purpose
        [[ $1 == $pattern || $1 == *"$pattern"* ]] && return 0
    done
    return 1
}

run_cases() {
    local name
    before=$(snapshot | sort -u)
    # In the order in which they are written above.
    for name in $(sed -n 's/^case_\([a-z0-9_]*\)() {$/\1/p' "$0"); do
        wanted "$name" || continue
        run_case "$name"
    done
    result end
}

lay_out_cgroups
mkdir /run/user
mkdir -m 0700 /run/user/1000
chown 1000:1000 /run/user/1000
if [[ $arg_shell ]]; then
    cd /root && exec setsid -c bash -i </dev/ttyS0 >/dev/ttyS0 2>&1
fi
mkfifo /run/case
exec 3>/dev/ttyS1 4<>/run/case
run_cases
