# bash completion for cove. What there is to complete is asked of cove itself, so that it is always what this cove can do.

# Lines of "letter name argument" out of a verb's table of options; what is missing is "-".
_cove_options() {
    "$@" --help 2>/dev/null | sed -nE \
        -e 's/^  (-(.), |    )--([a-z-]+)( ([^ ]+))?.*$/\2 \3 \5/' -e 't found' -e 'd' -e ': found' \
        -e 's/^ /- /' -e 's/ $/ -/' -e p
}

_cove_verbs() {
    "$1" --help 2>/dev/null | sed -nE 's/^  cove ([a-z]+) .*$/\1/p'
}

# "create ls rm" of `cove key`; nothing of verbs that have no verbs of their own.
_cove_subverbs() {
    "$1" "$2" --help 2>/dev/null | sed -nE "s/^usage: cove $2 ([a-z|]+) …\$/\\1/p" | tr '|' ' '
}

# Options that say which daemon, as they stand on the line.
_cove_place() {
    local i
    for ((i = 1; i < ${#COMP_WORDS[@]} - 1; i++)); do
        case ${COMP_WORDS[i]} in
        --socket | --state | --url | --cacert | --key) printf '%s\n' "${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}" ;;
        esac
    done
}

# What follows an option that takes a value; by the name that the help gives the value.
# Kept transactions.
_cove_txns() {
    "$1" txn ls 2>/dev/null | sed -nE 's/^(txn-[a-z0-9]+) .*$/\1/p'
}

_cove_value() {
    case $1 in
    FILE | PATH | SRC:DST* | DST=SRC | FILE\|-) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$2")) ;;
    DIR | host\|DIR | DIR\[:TARGET\]) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$2")) ;;
    STATUS) COMPREPLY=($(compgen -W "initializing ready running paused stopped terminating completed failed terminated" -- "$2")) ;;
    WHAT) COMPREPLY=($(compgen -W "kill pause park" -- "$2")) ;;
    commit\|discard) COMPREPLY=($(compgen -W "commit discard" -- "$2")) ;;
    SCOPE) COMPREPLY=($(compgen -W "read use admin" -- "$2")) ;;
    none\|host) COMPREPLY=($(compgen -W "none host" -- "$2")) ;;
    MODE) COMPREPLY=($(compgen -W "none isolated egress open" -- "$2")) ;;
    USER) COMPREPLY=($(compgen -W "user root" -- "$2")) ;;
    esac
}

# Operand number $3 (from 1) of verb $2; $4 is the first operand.
_cove_operand() {
    local cove=$1 verb=$2 number=$3 first=$4 cur=$5
    local -a place
    mapfile -t place < <(_cove_place)
    case $verb:$number in
    inspect:1 | fork:1 | restore:1 | pause:* | resume:* | stop:* | start:* | rm:* | timeout:1 | ports:1 | url:1 | network:1 | logs:1 | stats:* | exec:1 | code:1 | shell:1 | ps:1 | attach:1 | wait:1 | why:1 | replay:1)
        COMPREPLY=($(compgen -W "$("$cove" ls --names "${place[@]}" 2>/dev/null)" -- "$cur"))
        ;;
    restore:2) COMPREPLY=($(compgen -W "$("$cove" snapshot ls -q "${place[@]}" 2>/dev/null)" -- "$cur")) ;;
    snapshot:*)
        case $number:$first in
        1:*) COMPREPLY=($(compgen -W "$(_cove_subverbs "$cove" "$verb")" -- "$cur")) ;;
        *:create) COMPREPLY=($(compgen -W "$("$cove" ls --names "${place[@]}" 2>/dev/null)" -- "$cur")) ;;
        *:inspect | *:rm | *:verify) COMPREPLY=($(compgen -W "$("$cove" snapshot ls -q "${place[@]}" 2>/dev/null)" -- "$cur")) ;;
        esac
        ;;
    inspect:2 | logs:2 | attach:2 | wait:2)
        COMPREPLY=($(compgen -W "$("$cove" ps -aq "$first" "${place[@]}" 2>/dev/null)" -- "$cur"))
        ;;
    diff:1 | commit:1 | discard:1)
        COMPREPLY=($(compgen -W "$(_cove_txns "$cove") $("$cove" ls --names "${place[@]}" 2>/dev/null)" -- "$cur"))
        ;;
    diff:* | commit:* | discard:*) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    cp:*)
        compopt -o filenames -o nospace 2>/dev/null
        COMPREPLY=($(compgen -f -- "$cur") $(compgen -S : -W "$("$cove" ls --names "${place[@]}" 2>/dev/null)" -- "$cur"))
        ;;
    policy:2)
        if [ "$first" = check ]; then
            COMPREPLY=($(compgen -f -- "$cur"))
        else
            COMPREPLY=($(compgen -W "$("$cove" ls --names "${place[@]}" 2>/dev/null)" -- "$cur"))
        fi
        ;;
    config:2 | policy:3) COMPREPLY=($(compgen -f -- "$cur")) ;;
    template:*)
        if ((number == 1)); then
            COMPREPLY=($(compgen -W "$(_cove_subverbs "$cove" "$verb")" -- "$cur"))
        elif [[ $first == @(inspect|rm|push) ]]; then
            COMPREPLY=($(compgen -W "$("$cove" template ls "${place[@]}" 2>/dev/null | sed -n '2,$s/ .*//p')" -- "$cur"))
        elif [[ $first == import || $first == build ]]; then
            compopt -o filenames 2>/dev/null
            COMPREPLY=($(compgen -f -- "$cur"))
        fi
        ;;
    volume:*)
        case $number:$first in
        1:*) COMPREPLY=($(compgen -W "$(_cove_subverbs "$cove" "$verb")" -- "$cur")) ;;
        *:inspect | *:rm) COMPREPLY=($(compgen -W "$("$cove" volume ls -q "${place[@]}" 2>/dev/null)" -- "$cur")) ;;
        esac
        ;;
    quarantine:*)
        case $number:$first in
        1:*) COMPREPLY=($(compgen -W "$(_cove_subverbs "$cove" "$verb")" -- "$cur")) ;;
        *:rm | 2:restore) COMPREPLY=($(compgen -W "$("$cove" quarantine ls -q "${place[@]}" 2>/dev/null)" -- "$cur")) ;;
        esac
        ;;
    network:2) COMPREPLY=($(compgen -W "usage denials learned" -- "$cur")) ;;
    config:2) COMPREPLY=($(compgen -f -- "$cur")) ;;
    run:*) COMPREPLY=($(compgen -c -- "$cur")) ;;
    completion:1) COMPREPLY=($(compgen -W "bash zsh fish" -- "$cur")) ;;
    *:1) COMPREPLY=($(compgen -W "$(_cove_subverbs "$cove" "$verb")" -- "$cur")) ;;
    esac
}

_cove() {
    local cove=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} cur=${COMP_WORDS[COMP_CWORD]}
    local letter name argument i word number=0 first= value=
    local -a call
    COMPREPLY=()

    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "$(_cove_verbs "$cove") --help --version" -- "$cur"))
        return
    fi

    call=("$cove" "$verb")
    ((COMP_CWORD > 2)) && [[ " $(_cove_subverbs "$cove" "$verb") " == *" ${COMP_WORDS[2]} "* ]] && call+=("${COMP_WORDS[2]}")
    local -A takes=()
    local -a long=()
    while read -r letter name argument; do
        long+=("--$name")
        [ "$argument" = - ] || takes["--$name"]=$argument
        [ "$letter" = - ] || [ "$argument" = - ] || takes["-$letter"]=$argument
    done < <(_cove_options "${call[@]}")

    # The words before: which are operands, and whether the last one waits for a value.
    for ((i = 2; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [ -n "$value" ]; then
            value=
        elif [ "$word" = -- ]; then
            [ "$verb" = exec ] || [ "$verb" = run ] || continue
            ((number >= 1)) || [ "$verb" = run ] || continue
            number=99
            break
        elif [[ $word == -* ]]; then
            value=${takes[$word]-}
        else
            ((++number == 1)) && first=$word
        fi
    done

    if [ -n "$value" ]; then
        _cove_value "$value" "$cur"
    elif [[ $cur == -* ]] && ((number < 99)); then
        COMPREPLY=($(compgen -W "${long[*]}" -- "$cur"))
    else
        _cove_operand "$cove" "$verb" "$((number + 1))" "$first" "$cur"
    fi
}

complete -F _cove cove
