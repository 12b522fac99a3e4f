# bash completion for cove. The candidates come from cove itself, so that they match the installed version.

# Lines of "letter name argument" from a verb's table of options; "-" stands for a missing one.
_cove_options() {
    "$@" --help 2>/dev/null | sed -nE \
        -e 's/^  (-(.), |    )--([a-z-]+)( ([^ ]+))?.*$/\2 \3 \5/' -e 't found' -e 'd' -e ': found' \
        -e 's/^ /- /' -e 's/ $/ -/' -e p
}

_cove_verbs() {
    "$1" --help 2>/dev/null | sed -nE 's/^  cove ([a-z]+) .*$/\1/p'
}

# The subverbs of a verb, as "create ls rm" of `cove key`; empty if it has none.
_cove_subverbs() {
    "$1" "$2" --help 2>/dev/null | sed -nE "s/^usage: cove $2 ([a-z|]+) …\$/\\1/p" | tr '|' ' '
}

# The options on the line that select the daemon.
_cove_place() {
    local i
    for ((i = 1; i < ${#COMP_WORDS[@]} - 1; i++)); do
        case ${COMP_WORDS[i]} in
        --socket | --state | --url | --cacert | --key) printf '%s\n' "${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}" ;;
        esac
    done
}

# Passes on lines that are names. compgen -W runs $(…) in its words, and readline inserts them unquoted: other lines
# come from a daemon that is not to be trusted.
_cove_plain() {
    LC_ALL=C grep -xE '[[:alnum:]][[:alnum:]._:/@+-]*'
}

# Kept transactions.
_cove_txns() {
    "$1" txn ls 2>/dev/null | sed -nE 's/^(txn-[a-z0-9]+) .*$/\1/p'
}

# Names of the daemon's objects, by kind: sandboxes, all (ended sandboxes too), snapshots, or a verb whose table begins with them.
_cove_names() {
    local cove=$1
    local -a place
    mapfile -t place < <(_cove_place)
    case $2 in
    sandboxes) "$cove" ls --names "${place[@]}" 2>/dev/null ;;
    all) "$cove" ls -a --names "${place[@]}" 2>/dev/null ;;
    snapshots) "$cove" snapshot ls "${place[@]}" 2>/dev/null | sed -nE -e '1d;s/^([^ ]+) +- .*/\1/;t found' -e 's/^[^ ]+ +([^ ]+) .*/\1/' -e ':found' -e p ;;
    *) "$cove" "$2" ls "${place[@]}" 2>/dev/null | sed -n '2,$s/ .*//p' ;;
    esac | _cove_plain
}

# Candidates for an option's value, by the name of the value in the help.
_cove_value() {
    local cove=$3
    case $1 in
    FILE | PATH | SRC:DST* | DST=SRC | FILE\|-) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$2")) ;;
    host\|DIR) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -W host -- "$2") $(compgen -d -- "$2")) ;;
    DIR | DIR\[:TARGET\]) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$2")) ;;
    STATUS) COMPREPLY=($(compgen -W "initializing ready running paused stopped terminating completed failed terminated" -- "$2")) ;;
    WHAT) COMPREPLY=($(compgen -W "kill pause park" -- "$2")) ;;
    commit\|discard) COMPREPLY=($(compgen -W "commit discard" -- "$2")) ;;
    SCOPE) COMPREPLY=($(compgen -W "read use admin" -- "$2")) ;;
    none\|egress\|packages\|open\|host) COMPREPLY=($(compgen -W "none egress packages open host" -- "$2")) ;;
    MODE) COMPREPLY=($(compgen -W "none isolated egress packages open" -- "$2")) ;;
    GROUP) COMPREPLY=($(compgen -W "sandbox task agentType tenant" -- "$2")) ;;
    LANGUAGE) COMPREPLY=($(compgen -W "python javascript typescript bash r java" -- "$2")) ;;
    USER) COMPREPLY=($(compgen -W "user root" -- "$2")) ;;
    SANDBOX) COMPREPLY=($(compgen -W "$(_cove_names "$cove" all)" -- "$2")) ;;
    SNAPSHOT) COMPREPLY=($(compgen -W "$(_cove_names "$cove" snapshots)" -- "$2")) ;;
    TEMPLATE) COMPREPLY=($(compgen -W "$(_cove_names "$cove" template) base host" -- "$2")) ;;
    RECIPE) COMPREPLY=($(compgen -W "$("$cove" template recipes 2>/dev/null | sed -n '2,$s/ .*//p' | _cove_plain)" -- "$2")) ;;
    VOLUME:DIR) compopt -o nospace 2>/dev/null; COMPREPLY=($(compgen -S : -W "$(_cove_names "$cove" volume)" -- "$2")) ;;
    PROFILE) COMPREPLY=($(compgen -W "$(_cove_names "$cove" profile)" -- "$2")) ;;
    TENANT) COMPREPLY=($(compgen -W "$(_cove_names "$cove" tenant)" -- "$2")) ;;
    esac
}

_cove_words() {
    COMPREPLY=($(compgen -W "$2" -- "$1"))
}

_cove_files() {
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$1"))
}

# Operand number $3 (from 1) of verb $2; $4 is the first operand, which may be a subverb.
_cove_operand() {
    local cove=$1 verb=$2 number=$3 first=$4 cur=$5
    local -a place
    mapfile -t place < <(_cove_place)
    case $verb:$number:$first in
    restore:1:* | pause:* | resume:* | stop:* | start:* | timeout:1:* | ports:1:* | url:1:* | network:1:* | exec:1:* | code:1:* | shell:1:* | ps:1:* | attach:1:* | wait:1:* | snapshot:2:create | policy:2:explain | policy:2:show | policy:2:set)
        _cove_words "$cur" "$(_cove_names "$cove" sandboxes)"
        ;;
    fork:1:*) _cove_words "$cur" "$(_cove_names "$cove" sandboxes) $(_cove_names "$cove" snapshots)" ;;
    inspect:1:* | rm:* | logs:1:* | stats:* | why:1:* | replay:1:*) _cove_words "$cur" "$(_cove_names "$cove" all)" ;;
    inspect:2:* | logs:2:*) _cove_words "$cur" "$("$cove" ps -aq "$first" "${place[@]}" 2>/dev/null | _cove_plain)" ;;
    attach:2:*) _cove_words "$cur" "$("$cove" ps -q --no-interpreters "$first" "${place[@]}" 2>/dev/null | _cove_plain)" ;;
    wait:2:*) _cove_words "$cur" "$("$cove" ps -aq --no-interpreters "$first" "${place[@]}" 2>/dev/null | _cove_plain)" ;;
    diff:1:* | commit:1:* | discard:1:*) _cove_words "$cur" "$(_cove_txns "$cove") $(_cove_names "$cove" all)" ;;
    code:2:* | diff:* | commit:* | discard:* | config:2:* | policy:2:check | policy:3:* | template:*:import | template:*:build) _cove_files "$cur" ;;
    cp:*)
        compopt -o filenames -o nospace 2>/dev/null
        COMPREPLY=($(compgen -f -- "$cur") $(compgen -S : -W "$(_cove_names "$cove" sandboxes)" -- "$cur"))
        ;;
    restore:2:* | snapshot:*:inspect | snapshot:*:rm | snapshot:*:verify) _cove_words "$cur" "$(_cove_names "$cove" snapshots)" ;;
    template:2:inspect | template:*:rm | template:2:push | volume:2:inspect | volume:*:rm | secret:2:set | secret:*:rm | profile:2:show | tenant:2:set | tenant:*:rm | key:*:rm | agent:2:show | agent:2:logs | agent:*:cancel | agent:*:retry | agent:*:rm)
        _cove_words "$cur" "$(_cove_names "$cove" "$verb")"
        ;;
    quarantine:*:rm | quarantine:2:restore) _cove_words "$cur" "$("$cove" quarantine ls -q "${place[@]}" 2>/dev/null | _cove_plain)" ;;
    network:2:*) _cove_words "$cur" "usage denials learned" ;;
    run:*) COMPREPLY=($(compgen -c -- "$cur")) ;;
    completion:1:*) _cove_words "$cur" "bash zsh fish" ;;
    help:1:*) _cove_words "$cur" "$(_cove_verbs "$cove")" ;;
    *:1:*) _cove_words "$cur" "$(_cove_subverbs "$cove" "$verb")" ;;
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

    # The words before: which of them are operands, and whether the last one takes a value.
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
        _cove_value "$value" "$cur" "$cove"
    elif [[ $cur == -* ]] && ((number < 99)); then
        COMPREPLY=($(compgen -W "${long[*]}" -- "$cur"))
    else
        _cove_operand "$cove" "$verb" "$((number + 1))" "$first" "$cur"
    fi
}

complete -F _cove cove
