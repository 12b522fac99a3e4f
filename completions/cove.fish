# fish completion for cove. The candidates come from cove itself, so that they match the installed version.

function __cove_program
    set -l words (commandline -opc)
    echo $words[1]
end

# "name<tab>help" lines of the verbs.
function __cove_verbs
    set -l cove (__cove_program)
    $cove --help 2>/dev/null | string replace -rf -- '^  cove ([a-z]+) +(.*)$' '$1\t$2'
end

# The subverbs of a verb, as "create", "ls" and "rm" of `cove key`; empty if it has none.
function __cove_subverbs
    set -l cove (__cove_program)
    $cove $argv[1] --help 2>/dev/null | string replace -rf -- "^usage: cove $argv[1] ([a-z|]+) …\$" '$1' | string split '|'
end

# The words of the verb's name: "ls", or "key create".
function __cove_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; or return 1
    echo $words[2]
    if test (count $words) -ge 3; and contains -- $words[3] (__cove_subverbs $words[2])
        echo $words[3]
    end
end

function __cove_help
    set -l cove (__cove_program)
    $cove (__cove_verb) --help 2>/dev/null
end

# "--name<tab>help" lines of the options; -x ones too.
function __cove_options
    __cove_help | string replace -rf -- '^  (?:-., |    )(--[a-z-]+)(?: [^ ]+)? *(.*)$' '$1\t$2'
    __cove_help | string replace -rf -- '^  (-.), --[a-z-]+(?: [^ ]+)? *(.*)$' '$1\t$2'
end

# The options that take a value: "--name ARGUMENT", "-x ARGUMENT".
function __cove_taking
    __cove_help | string replace -rf -- '^  (?:-., |    )(--[a-z-]+ [^ ]+).*$' '$1'
    __cove_help | string replace -rf -- '^  (-.), --[a-z-]+( [^ ]+).*$' '$1$2'
end

# The name of the value that the last word takes; empty if it takes none.
function __cove_argument
    set -l last (commandline -opc)[-1]
    string match -q -- '-*' $last; or return
    __cove_taking | string replace -f -- "$last " ''
end

# The options on the line that select the daemon.
function __cove_place
    set -l words (commandline -opc)
    for i in (seq 2 (math (count $words) - 1) 2>/dev/null)
        contains -- $words[$i] --socket --state --url --cacert --key; and printf '%s\n' $words[$i] $words[(math $i + 1)]
    end
end

# The operands so far: words that are neither options nor values of options.
function __cove_operands
    set -l takes (__cove_taking | string replace -r -- ' .*' '')
    set -l value no
    for word in (commandline -opc)[3..-1]
        if test $value = yes
            set value no
        else if string match -q -- '-*' $word
            contains -- $word $takes; and set value yes
        else
            echo $word
        end
    end
end

# Names of the daemon's objects, by kind: sandboxes, all (ended sandboxes too), snapshots, or a verb whose table begins with them.
function __cove_names
    set -l cove (__cove_program)
    switch $argv[1]
        case sandboxes
            $cove ls --names (__cove_place) 2>/dev/null
        case all
            $cove ls -a --names (__cove_place) 2>/dev/null
        case snapshots
            $cove snapshot ls (__cove_place) 2>/dev/null | sed -nE -e '1d;s/^([^ ]+) +- .*/\1/;t found' -e 's/^[^ ]+ +([^ ]+) .*/\1/' -e ':found' -e p
        case '*'
            $cove $argv[1] ls (__cove_place) 2>/dev/null | sed -n '2,$s/ .*//p'
    end
end

function __cove_values
    set -l cove (__cove_program)
    switch $argv[1]
        case FILE PATH 'SRC:DST*' 'DST=SRC' 'FILE|-'
            __fish_complete_path (commandline -ct)
        case 'host|DIR'
            echo host
            __fish_complete_directories (commandline -ct)
        case DIR 'DIR[:TARGET]'
            __fish_complete_directories (commandline -ct)
        case STATUS
            printf '%s\n' initializing ready running paused stopped terminating completed failed terminated
        case WHAT
            printf '%s\n' kill pause park
        case 'commit|discard'
            printf '%s\n' commit discard
        case SCOPE
            printf '%s\n' read use admin
        case 'none|egress|packages|open|host'
            printf '%s\n' none egress packages open host
        case MODE
            printf '%s\n' none isolated egress packages open
        case GROUP
            printf '%s\n' sandbox task agentType tenant
        case LANGUAGE
            printf '%s\n' python javascript typescript bash r java
        case USER
            printf '%s\n' user root
        case SANDBOX
            __cove_names all
        case SNAPSHOT
            __cove_names snapshots
        case TEMPLATE
            __cove_names template
            printf '%s\n' base host
        case RECIPE
            $cove template recipes 2>/dev/null | sed -n '2,$s/ .*//p'
        case VOLUME:DIR
            __cove_names volume | string replace -r '$' ':'
        case PROFILE
            __cove_names profile
        case TENANT
            __cove_names tenant
    end
end

# By the verb, the operand's number (from 1), and the first operand, which may be a subverb.
function __cove_operand
    set -l cove (__cove_program)
    set -l verb (commandline -opc)[2]
    set -l operands (__cove_operands)
    switch "$verb:"(math (count $operands) + 1)":$operands[1]"
        case 'restore:1:*' 'pause:*' 'resume:*' 'stop:*' 'start:*' 'timeout:1:*' 'ports:1:*' 'url:1:*' 'network:1:*' 'exec:1:*' 'code:1:*' 'shell:1:*' 'ps:1:*' 'attach:1:*' 'wait:1:*' snapshot:2:create policy:2:explain policy:2:show policy:2:set
            __cove_names sandboxes
        case 'fork:1:*'
            __cove_names sandboxes
            __cove_names snapshots
        case 'inspect:1:*' 'rm:*' 'logs:1:*' 'stats:*' 'why:1:*' 'replay:1:*'
            __cove_names all
        case 'inspect:2:*' 'logs:2:*'
            $cove ps -aq $operands[1] (__cove_place) 2>/dev/null
        case 'attach:2:*'
            $cove ps -q --no-interpreters $operands[1] (__cove_place) 2>/dev/null
        case 'wait:2:*'
            $cove ps -aq --no-interpreters $operands[1] (__cove_place) 2>/dev/null
        case 'diff:1:*' 'commit:1:*' 'discard:1:*'
            $cove txn ls 2>/dev/null | string match -r '^txn-[a-z0-9]+'
            __cove_names all
        case 'code:2:*' 'diff:*' 'commit:*' 'discard:*' 'config:2:*' policy:2:check 'policy:3:*' 'template:*:import' 'template:*:build'
            __fish_complete_path (commandline -ct)
        case 'cp:*'
            __cove_names sandboxes | string replace -r '$' ':'
            __fish_complete_path (commandline -ct)
        case 'restore:2:*' 'snapshot:*:inspect' 'snapshot:*:rm' 'snapshot:*:verify'
            __cove_names snapshots
        case template:2:inspect 'template:*:rm' template:2:push volume:2:inspect 'volume:*:rm' secret:2:set 'secret:*:rm' profile:2:show tenant:2:set 'tenant:*:rm' 'key:*:rm' agent:2:show agent:2:logs 'agent:*:cancel' 'agent:*:retry' 'agent:*:rm'
            __cove_names $verb
        case 'quarantine:*:rm' quarantine:2:restore
            $cove quarantine ls -q (__cove_place) 2>/dev/null
        case 'network:2:*'
            printf '%s\n' usage denials learned
        case 'run:*'
            __fish_complete_command
        case 'completion:1:*'
            printf '%s\n' bash zsh fish
        case 'help:1:*'
            __cove_verbs
        case '*:1:*'
            __cove_subverbs $verb
    end
end

function __cove_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l argument
    test (count $words) -gt 1; and set argument (__cove_argument)
    if test (count $words) -eq 1
        __cove_verbs
        printf '%s\t%s\n' --help 'print this' --version 'print the version'
    else if set -q argument[1]
        __cove_values $argument[1]
    else if string match -q -- '-*' $current
        __cove_options
    else
        __cove_operand
    end
end

complete -c cove -f -a '(__cove_complete)'
