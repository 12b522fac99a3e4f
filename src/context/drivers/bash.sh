# bash.sh: a shell that stays. The driver of contexts of bash.
#
# Comes over the channel and is evaluated; context/internal.h has what is said there. What code prints is read by the daemon from the pipes that are its descriptors 1 and 2, so
# only the ends of runs are told here. Code is sourced and not evaluated, because a file can be returned from: an interruption is a signal to all of the process group, what runs
# dies of it, and from then on every command returns (extdebug), out of loops and functions, until there is nothing left to return from.

__cove_count=0
__cove_running=
__cove_stopped=

__cove_interrupted() {
        [ -n "$__cove_running" ] || return 0
        __cove_stopped=1
        shopt -s extdebug
        trap __cove_skip DEBUG
}

# 2: the function or file that the command is in returns
__cove_skip() {
        [[ $BASH_COMMAND == __cove_* || $BASH_COMMAND == 'trap - DEBUG' ]] || return 2
}

__cove_set() {
        local assignment name
        __cove_saved=()
        for assignment in "$@"; do
                name=${assignment%%=*}
                if [ -v "$name" ]; then
                        __cove_saved+=("$name=${!name}")
                else
                        __cove_saved+=("$name")
                fi
                export "$assignment"
        done
}

__cove_restore() {
        local assignment
        for assignment in "${__cove_saved[@]}"; do
                if [[ $assignment == *=* ]]; then
                        export "$assignment"
                else
                        unset "$assignment"
                fi
        done
}

__cove_end() {
        trap - DEBUG
        shopt -u extdebug
        __cove_running=
        __cove_restore
        if [ -n "$__cove_stopped" ]; then
                printf '{"type":"error","run":%s,"name":"KeyboardInterrupt","value":"","traceback":"KeyboardInterrupt"}\n' "$1" >&3
        elif [ "$2" != 0 ]; then
                printf '{"type":"error","run":%s,"name":"ExitError","value":"exit status %s","traceback":"exit status %s"}\n' "$1" "$2" "$2" >&3
        fi
        __cove_stopped=
        printf '{"type":"end_of_execution","run":%s}\n' "$1" >&3
}

trap __cove_interrupted INT
printf '{"type":"ready"}\n' >&3
while IFS=$'\x1e' read -r -u 3 -a __cove_fields || [ -n "$__cove_running" ]; do
        case ${__cove_fields[0]-} in
        run)
                printf -v __cove_code %b "${__cove_fields[2]-}"
                __cove_given=()
                for __cove_one in "${__cove_fields[@]:3}"; do
                        printf -v __cove_one %b "$__cove_one"
                        __cove_given+=("$__cove_one")
                done
                __cove_set "${__cove_given[@]}"
                __cove_count=$((__cove_count + 1))
                __cove_running=${__cove_fields[1]}
                __cove_status=0
                . /dev/fd/9 9<<<"$__cove_code" 3>&- || __cove_status=$?
                __cove_end "${__cove_fields[1]}" "$__cove_status"
                ;;
        env)
                for __cove_one in "${__cove_fields[@]:1}"; do
                        printf -v __cove_one %b "$__cove_one"
                        export "$__cove_one"
                done
                ;;
        sync)
                printf '{"type":"synced","token":"%s","count":%s}\n' "${__cove_fields[1]}" "$__cove_count" >&3
                ;;
        esac
done
