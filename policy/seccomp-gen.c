/* seccomp-gen.c: compiles seccomp.policy into BPF, at build time.
 *
 *      seccomp-gen ARCH POLICY HEADER
 *
 * The one door to libseccomp, which knows the names and numbers of system calls on every architecture; the
 * programs carry the finished arrays and need neither the library nor its work when a sandbox starts. The code is
 * made here and not by the library, which compares single numbers and has no "none of these" for 32-bit
 * arguments: what it made of this table was five times as long and took 0.25 ms to load, for each sandbox.
 * Anything in the table that is unknown, twice there, out of order or without effect ends the build, with file
 * and line.
 * Must not know: what the calls are for. That is the table's.
 *
 *      a filter    architecture and x32 check
 *                  binary search over ranges of numbers with the same answer
 *                  at each leaf the answer, or the rules of one call and then "allow"
 */

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/kd.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/macro.h"

#define NUMBER_END     1024 /* beyond the last system call of any kernel */
#define NUMBER_X32     0x40000000
#define TOKENS_MAX     32
#define VALUES_MAX     16
#define CONDITIONS_MAX 3
#define RULES_MAX      128

typedef struct Constant {
        const char *name;
        uint32_t value;
} Constant;

/* clang-format off */
#define CONSTANT(name) { #name, (uint32_t) (name) }

/* Of the machine that builds; all of them are the same on every architecture we know. */
static const Constant constants[] = {
        CONSTANT(ADDR_NO_RANDOMIZE),
        CONSTANT(AF_INET),
        CONSTANT(AF_INET6),
        CONSTANT(AF_NETLINK),
        CONSTANT(AF_UNIX),
        CONSTANT(BTRFS_IOC_SET_RECEIVED_SUBVOL),
        CONSTANT(BTRFS_IOC_SNAP_CREATE),
        CONSTANT(BTRFS_IOC_SNAP_CREATE_V2),
        CONSTANT(BTRFS_IOC_SNAP_DESTROY),
        CONSTANT(BTRFS_IOC_SNAP_DESTROY_V2),
        CONSTANT(BTRFS_IOC_SUBVOL_CREATE),
        CONSTANT(BTRFS_IOC_SUBVOL_CREATE_V2),
        CONSTANT(BTRFS_IOC_SUBVOL_SETFLAGS),
        CONSTANT(CLONE_NEWCGROUP),
        CONSTANT(CLONE_NEWIPC),
        CONSTANT(CLONE_NEWNET),
        CONSTANT(CLONE_NEWNS),
        CONSTANT(CLONE_NEWPID),
        CONSTANT(CLONE_NEWUSER),
        CONSTANT(CLONE_NEWUTS),
        CONSTANT(FICLONE),
        CONSTANT(FICLONERANGE),
        CONSTANT(FIDEDUPERANGE),
        CONSTANT(IPPROTO_ICMP),
        CONSTANT(IPPROTO_ICMPV6),
        CONSTANT(IPPROTO_TCP),
        CONSTANT(IPPROTO_UDP),
        CONSTANT(KDSETKEYCODE),
        CONSTANT(KDSKBDIACR),
        CONSTANT(KDSKBDIACRUC),
        CONSTANT(KDSKBENT),
        CONSTANT(KDSKBSENT),
        CONSTANT(KEYCTL_JOIN_SESSION_KEYRING),
        CONSTANT(MADV_MERGEABLE),
        CONSTANT(NETLINK_ROUTE),
        CONSTANT(O_CREAT),
        CONSTANT(PR_SCHED_CORE),
        CONSTANT(PTRACE_O_SUSPEND_SECCOMP),
        CONSTANT(PTRACE_SEIZE),
        CONSTANT(PTRACE_SETOPTIONS),
        CONSTANT(SOCK_DGRAM),
        CONSTANT(SOCK_STREAM),
        CONSTANT(S_ISGID),
        CONSTANT(S_ISUID),
        CONSTANT(TCP_ULP),
        CONSTANT(TIOCCONS),
        CONSTANT(TIOCLINUX),
        CONSTANT(TIOCSETD),
        CONSTANT(TIOCSTI),
        { "SOCK_TYPE_MASK", 0xf },    /* the kernel's own; above it are SOCK_CLOEXEC and SOCK_NONBLOCK */
        { "__O_TMPFILE", 020000000 }, /* the kernel's one bit; libc's macro has O_DIRECTORY in it */
};

static const Constant errors[] = {
        CONSTANT(EAFNOSUPPORT),
        CONSTANT(EINVAL),
        CONSTANT(ENOPROTOOPT),
        CONSTANT(ENOSYS),
        CONSTANT(EOPNOTSUPP),
        CONSTANT(EPERM),
        CONSTANT(EPROTONOSUPPORT),
};
/* clang-format on */

typedef enum Section { SECTION_NONE, SECTION_ALLOW, SECTION_ARGS, SECTION_NOSUID, SECTION_ZYGOTE, _SECTION_MAX } Section;

#define BIT(section) (1u << (section))
#define GUEST        (BIT(SECTION_ALLOW) | BIT(SECTION_ARGS)) /* which sections a filter is made of */

static const char *const section_headers[_SECTION_MAX] = {
        [SECTION_ALLOW] = "[allow]",
        [SECTION_ARGS] = "[args]",
        [SECTION_NOSUID] = "[nosuid]",
        [SECTION_ZYGOTE] = "[zygote]",
};

/* One line of [allow], or an "allow" of [zygote]. */
typedef struct Call {
        Section section;
        char name[64];
        int number; /* negative when the architecture has no such call */
        uint32_t verdict;
} Call;

/* (argument & mask) is one of the values, or none of them. */
typedef struct Condition {
        unsigned arg;
        uint32_t mask;
        bool negated;
        size_t n_values;
        uint32_t values[VALUES_MAX];
} Condition;

/* One line of [args], [nosuid] or [zygote]. */
typedef struct Rule {
        Section section;
        const Call *call;
        uint32_t verdict;
        size_t n_conditions;
        Condition conditions[CONDITIONS_MAX];
} Rule;

typedef struct Policy {
        const char *path;
        unsigned line;
        uint32_t arch; /* libseccomp's token is the kernel's AUDIT_ARCH_* */
        Section section;
        bool foreign_abi_killed;

        Call calls[NUMBER_END];
        size_t n_calls;
        Rule rules[RULES_MAX];
        size_t n_rules;

        char previous[64]; /* name on the line before, empty at the begin of a group */
        char *tokens[TOKENS_MAX + 1];
        size_t n_tokens, next;
} Policy;

/* Numbers from `first` up to the next range's. */
typedef struct Range {
        uint32_t first;
        uint32_t verdict;
        const Call *call; /* when rules come before the verdict */
} Range;

typedef struct Program {
        struct sock_filter code[BPF_MAXINSNS];
        size_t n;
} Program;

static _noreturn_ void die(const Policy *p, const char *format, ...) _printf_(2, 3);

static void die(const Policy *p, const char *format, ...) {
        va_list ap;

        (void) fprintf(stderr, "%s:%u: ", p->path, p->line);
        va_start(ap, format);
        (void) vfprintf(stderr, format, ap);
        va_end(ap);
        (void) fputc('\n', stderr);
        exit(EXIT_FAILURE);
}

/* The next word of the line; NULL at the end. */
static const char *peek(const Policy *p) {
        return p->tokens[p->next];
}

static const char *take_or_die(Policy *p, const char *what) {
        if (!peek(p))
                die(p, "%s expected at the end of the line", what);
        return p->tokens[p->next++];
}

static bool take_if(Policy *p, const char *word) {
        if (!peek(p) || strcmp(peek(p), word) != 0)
                return false;
        p->next++;
        return true;
}

static uint32_t number_or_die(const Policy *p, const char *text, uint32_t max) {
        unsigned long n;
        char *end;

        errno = 0;
        n = strtoul(text, &end, 0);
        if (*text < '0' || *text > '9' || *end || errno != 0 || n > max)
                die(p, "'%s' is neither a known name nor a number up to %u", text, max);
        return (uint32_t) n;
}

static uint32_t value_or_die(const Policy *p, const char *text) {
        for (size_t i = 0; i < ELEMENTSOF(constants); i++)
                if (strcmp(constants[i].name, text) == 0)
                        return constants[i].value;
        return number_or_die(p, text, UINT32_MAX);
}

static uint32_t error_or_die(const Policy *p, const char *text) {
        for (size_t i = 0; i < ELEMENTSOF(errors); i++)
                if (strcmp(errors[i].name, text) == 0)
                        return errors[i].value;
        die(p, "'%s' is not an error known here", text);
}

static const Call *find_call(const Policy *p, const char *name) {
        for (size_t i = 0; i < p->n_calls; i++)
                if (strcmp(p->calls[i].name, name) == 0)
                        return p->calls + i;
        return NULL;
}

/* Equal neighbours are fine here: several rules may be about one call. */
static void check_order_or_die(Policy *p, const char *name) {
        if (strcmp(name, p->previous) < 0)
                die(p, "'%s' stands after '%s'; names are sorted within a group", name, p->previous);
        (void) snprintf(p->previous, sizeof(p->previous), "%s", name);
}

/* Finds the number behind NAME or NAME=NUMBER. libseccomp answers -1 for a name it has never heard of, and less
 * for one that it knows from other architectures only. */
static int resolve_or_die(const Policy *p, const char *name, const char *number) {
        int known = seccomp_syscall_resolve_name_arch(p->arch, name), given;
        char *owner;

        if (!number) {
                if (known == __NR_SCMP_ERROR)
                        die(p, "unknown system call '%s'", name);
                return known;
        }

        given = (int) number_or_die(p, number, NUMBER_END - 1);
        if (known >= 0 && known != given)
                die(p, "'%s' has number %d, not %d", name, known, given);

        owner = seccomp_syscall_resolve_num_arch(p->arch, given);
        if (owner && strcmp(owner, name) != 0)
                die(p, "number %d belongs to '%s'", given, owner);
        free(owner);
        return known == __NR_SCMP_ERROR ? given : known;
}

/* The rest of "allow NAME[=NUMBER]" */
static void parse_call_or_die(Policy *p, uint32_t verdict) {
        const char *token = take_or_die(p, "name of a system call"), *number = strchr(token, '=');
        size_t length = number ? (size_t) (number - token) : strlen(token);
        Call *call = p->calls + p->n_calls;

        if (p->n_calls >= ELEMENTSOF(p->calls) || length == 0 || length >= sizeof(call->name))
                die(p, "too many system calls, or a strange name");

        *call = (Call) { .section = p->section, .verdict = verdict };
        memcpy(call->name, token, length);
        call->number = resolve_or_die(p, call->name, number ? number + 1 : NULL);

        check_order_or_die(p, call->name);
        for (size_t i = 0; i < p->n_calls; i++) {
                if (strcmp(p->calls[i].name, call->name) == 0)
                        die(p, "'%s' is there twice", call->name);
                if (call->number >= 0 && p->calls[i].number == call->number)
                        die(p, "'%s' has the number of '%s'", call->name, p->calls[i].name);
        }
        p->n_calls++;
}

/* A,B… */
static void parse_values_or_die(Policy *p, Condition *condition) {
        char *rest = p->tokens[p->next];

        (void) take_or_die(p, "value");
        for (const char *item; (item = strsep(&rest, ","));) {
                uint32_t value = value_or_die(p, item);

                if (condition->n_values >= VALUES_MAX)
                        die(p, "more than %d values", VALUES_MAX);
                if (value & ~condition->mask)
                        die(p, "'%s' has bits outside the mask, so it is never met", item);
                condition->values[condition->n_values++] = value;
        }
}

/* argN [& MASK] is|not|has VALUES */
static void parse_condition_or_die(Policy *p, Condition *ret) {
        const char *arg = take_or_die(p, "argument"), *verb;

        if (strncmp(arg, "arg", 3) != 0 || arg[3] < '0' || arg[3] > '5' || arg[4])
                die(p, "'%s' is not arg0 to arg5", arg);

        ret->arg = (unsigned) (arg[3] - '0');
        ret->mask = take_if(p, "&") ? value_or_die(p, take_or_die(p, "mask")) : UINT32_MAX;

        verb = take_or_die(p, "is, not or has");
        parse_values_or_die(p, ret);

        if (strcmp(verb, "has") == 0 && ret->mask == UINT32_MAX) {
                /* Any of these bits: what is left under them is not zero. */
                ret->mask = 0;
                for (size_t i = 0; i < ret->n_values; i++)
                        ret->mask |= ret->values[i];
                ret->negated = true;
                ret->values[0] = 0;
                ret->n_values = 1;
        } else if (strcmp(verb, "not") == 0)
                ret->negated = true;
        else if (strcmp(verb, "is") != 0)
                die(p, "'%s' is not is, not, or has (which takes no mask)", verb);

        if (ret->mask == 0)
                die(p, "a mask without bits");
}

/* The rest of "deny NAME [with ERRNO] [when CONDITION [and CONDITION]…]" */
static void parse_rule_or_die(Policy *p) {
        const char *name = take_or_die(p, "name of a system call");
        Rule *rule = p->rules + p->n_rules;

        if (p->n_rules >= ELEMENTSOF(p->rules))
                die(p, "more than %d rules", RULES_MAX);

        /* Still all zero, padding included, so that rules can be compared as bytes. */
        rule->section = p->section;
        rule->call = find_call(p, name);
        rule->verdict = SECCOMP_RET_ERRNO | EPERM;
        if (!rule->call || rule->call->verdict != SECCOMP_RET_ALLOW)
                die(p, "'%s' is not allowed in the first place", name);
        check_order_or_die(p, name);

        if (take_if(p, "with"))
                rule->verdict = SECCOMP_RET_ERRNO | error_or_die(p, take_or_die(p, "error"));
        if (take_if(p, "when"))
                do {
                        if (rule->n_conditions >= CONDITIONS_MAX)
                                die(p, "more than %d conditions", CONDITIONS_MAX);
                        parse_condition_or_die(p, rule->conditions + rule->n_conditions++);
                } while (take_if(p, "and"));

        for (size_t i = 0; i < p->n_rules; i++)
                if (memcmp(p->rules + i, rule, sizeof(*rule)) == 0)
                        die(p, "the rule is there twice");
        p->n_rules++;
}

static void parse_allow_section_or_die(Policy *p) {
        const char *verb = take_or_die(p, "verb");

        if (strcmp(verb, "allow") == 0)
                parse_call_or_die(p, SECCOMP_RET_ALLOW);
        else if (strcmp(verb, "enosys") == 0)
                parse_call_or_die(p, SECCOMP_RET_ERRNO | ENOSYS);
        else if (strcmp(verb, "kill") == 0 && take_if(p, "foreign-abi"))
                p->foreign_abi_killed = true;
        else
                die(p, "'%s' is not allow, enosys, or kill foreign-abi", verb);
}

static void begin_section_or_die(Policy *p) {
        const char *header = take_or_die(p, "section");

        if (p->section + 1 >= _SECTION_MAX || strcmp(header, section_headers[p->section + 1]) != 0)
                die(p, "'%s' is not the next section", header);
        p->section++;
}

static void parse_line_or_die(Policy *p, char *line) {
        char *comment = strchr(line, '#'), *save = NULL;

        if (line[strspn(line, " \t\n")] == '\0')
                p->previous[0] = '\0';
        if (comment)
                *comment = '\0';

        p->n_tokens = p->next = 0;
        for (char *t = strtok_r(line, " \t\n", &save); t; t = strtok_r(NULL, " \t\n", &save)) {
                if (p->n_tokens >= TOKENS_MAX)
                        die(p, "more than %d words", TOKENS_MAX);
                p->tokens[p->n_tokens++] = t;
        }
        p->tokens[p->n_tokens] = NULL;

        if (p->n_tokens == 0)
                return;

        if (peek(p)[0] == '[')
                begin_section_or_die(p);
        else if (p->section == SECTION_NONE)
                die(p, "'%s' stands before the first section", peek(p));
        else if (p->section == SECTION_ALLOW)
                parse_allow_section_or_die(p);
        else if (take_if(p, "deny"))
                parse_rule_or_die(p);
        else if (p->section == SECTION_ZYGOTE && take_if(p, "allow"))
                parse_call_or_die(p, SECCOMP_RET_ALLOW);
        else
                die(p, "'%s' is not deny", peek(p));

        if (peek(p))
                die(p, "'%s' was not expected", peek(p));
}

static void parse_or_die(Policy *p) {
        char *line = NULL;
        size_t room = 0;
        FILE *f;

        f = fopen(p->path, "re");
        if (!f)
                die(p, "cannot be read: %s", strerror(errno));

        for (p->line = 1; getline(&line, &room, f) >= 0; p->line++)
                parse_line_or_die(p, line);
        if (ferror(f))
                die(p, "cannot be read to the end");
        (void) fclose(f);
        free(line);

        if (p->section + 1 != _SECTION_MAX)
                die(p, "sections are missing");
        if (!p->foreign_abi_killed)
                die(p, "'kill foreign-abi' is missing");
}

static bool rule_counts(const Rule *rule, const Call *call, unsigned sections) {
        return rule->call == call && (BIT(rule->section) & sections);
}

static Range range_of_number(const Policy *p, int number, unsigned sections) {
        char *name = seccomp_syscall_resolve_num_arch(p->arch, number);
        Range range = { .first = (uint32_t) number, .verdict = SECCOMP_RET_ERRNO | (name ? EPERM : ENOSYS) };

        free(name);
        for (size_t i = 0; i < p->n_calls; i++) {
                const Call *call = p->calls + i;

                if (call->number != number || !(BIT(call->section) & sections))
                        continue;
                range.verdict = call->verdict;
                for (size_t k = 0; k < p->n_rules; k++)
                        if (rule_counts(p->rules + k, call, sections))
                                range.call = call;
        }
        return range;
}

/* Neighbours with the same answer become one range. The last one has no end. */
static size_t make_ranges(const Policy *p, unsigned sections, Range ranges[static NUMBER_END + 1]) {
        size_t n = 0;

        for (int number = 0; number <= NUMBER_END; number++) {
                Range range = range_of_number(p, number, sections);

                if (n == 0 || range.call || ranges[n - 1].call || range.verdict != ranges[n - 1].verdict)
                        ranges[n++] = range;
        }
        return n;
}

static struct sock_filter *emit_or_die(const Policy *p, Program *out, uint16_t code, uint32_t k) {
        if (out->n >= ELEMENTSOF(out->code))
                die(p, "the filter is longer than %zu instructions", ELEMENTSOF(out->code));
        out->code[out->n] = (struct sock_filter) { .code = code, .k = k };
        return out->code + out->n++;
}

/* Comes out behind the rule when it does not match. The jumps that lead there are filled in at the end. */
static void emit_rule_or_die(const Policy *p, Program *out, const Rule *rule) {
        uint8_t *jumps[CONDITIONS_MAX * VALUES_MAX];
        size_t from[CONDITIONS_MAX * VALUES_MAX], n_jumps = 0;

        for (size_t i = 0; i < rule->n_conditions; i++) {
                const Condition *condition = rule->conditions + i;
                /* The lower half comes first: little-endian machines only. */
                size_t offset = offsetof(struct seccomp_data, args) + condition->arg * sizeof(uint64_t);

                (void) emit_or_die(p, out, BPF_LD | BPF_W | BPF_ABS, (uint32_t) offset);
                if (condition->mask != UINT32_MAX)
                        (void) emit_or_die(p, out, BPF_ALU | BPF_AND | BPF_K, condition->mask);

                for (size_t k = 0; k < condition->n_values; k++) {
                        size_t left = condition->n_values - 1 - k;
                        struct sock_filter *jump =
                                        emit_or_die(p, out, BPF_JMP | BPF_JEQ | BPF_K, condition->values[k]);

                        if (!condition->negated && left > 0) {
                                jump->jt = (uint8_t) left; /* met: over the other values */
                                continue;
                        }
                        jumps[n_jumps] = condition->negated ? &jump->jt : &jump->jf;
                        from[n_jumps++] = out->n;
                }
        }

        (void) emit_or_die(p, out, BPF_RET | BPF_K, rule->verdict);
        for (size_t i = 0; i < n_jumps; i++) {
                if (out->n - from[i] > UINT8_MAX)
                        die(p, "a rule for '%s' is too long for one jump", rule->call->name);
                *jumps[i] = (uint8_t) (out->n - from[i]);
        }
}

static void emit_search_or_die(
                const Policy *p, Program *out, const Range *ranges, size_t n_ranges, unsigned sections) {
        size_t middle = n_ranges / 2, at, over;

        if (n_ranges == 1) {
                for (size_t i = 0; ranges->call && i < p->n_rules; i++)
                        if (rule_counts(p->rules + i, ranges->call, sections))
                                emit_rule_or_die(p, out, p->rules + i);
                (void) emit_or_die(p, out, BPF_RET | BPF_K, ranges->verdict);
                return;
        }

        (void) emit_or_die(p, out, BPF_JMP | BPF_JGE | BPF_K, ranges[middle].first);
        at = out->n;
        emit_search_or_die(p, out, ranges, middle, sections);
        over = out->n - at;

        if (over <= UINT8_MAX)
                out->code[at - 1].jt = (uint8_t) over;
        else {
                /* Too far for a conditional jump: a long one comes between. All jumps are relative, so what is
                 * jumped over can be moved as it is. */
                (void) emit_or_die(p, out, 0, 0);
                memmove(out->code + at + 1, out->code + at, over * sizeof(out->code[0]));
                out->code[at] = (struct sock_filter) { .code = BPF_JMP | BPF_JA, .k = (uint32_t) over };
                out->code[at - 1].jf = 1;
        }

        emit_search_or_die(p, out, ranges + middle, n_ranges - middle, sections);
}

static void emit_foreign_abi_or_die(const Policy *p, Program *out) {
        (void) emit_or_die(p, out, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
        emit_or_die(p, out, BPF_JMP | BPF_JEQ | BPF_K, p->arch)->jt = 1;
        (void) emit_or_die(p, out, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
        (void) emit_or_die(p, out, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));

        if (p->arch != SCMP_ARCH_X86_64)
                return;

        /* Bit 30 is x32. -1 is what a tracer writes to skip a call, and not an ABI. */
        emit_or_die(p, out, BPF_JMP | BPF_JGE | BPF_K, NUMBER_X32)->jf = 2;
        emit_or_die(p, out, BPF_JMP | BPF_JEQ | BPF_K, UINT32_MAX)->jt = 1;
        (void) emit_or_die(p, out, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
}

static void write_filter_or_die(const Policy *p, unsigned sections, const char *name, FILE *out) {
        static Range ranges[NUMBER_END + 1];
        static Program program;
        size_t n_ranges = make_ranges(p, sections, ranges);

        program.n = 0;
        emit_foreign_abi_or_die(p, &program);
        emit_search_or_die(p, &program, ranges, n_ranges, sections);

        (void) fprintf(out, "\nstatic const struct sock_filter %s[] = {", name);
        for (size_t i = 0; i < program.n; i++) {
                const struct sock_filter *f = program.code + i;

                (void) fprintf(out, "%s{ 0x%02x, %u, %u, 0x%x },", i % 4 == 0 ? "\n        " : " ",
                                (unsigned) f->code, (unsigned) f->jt, (unsigned) f->jf, (unsigned) f->k);
        }
        (void) fprintf(out, "\n};\n");
}

static void write_header_or_die(const Policy *p, const char *arch, const char *path) {
        FILE *out = fopen(path, "we");

        if (!out)
                die(p, "cannot write '%s': %s", path, strerror(errno));

        (void) fprintf(out,
                        "/* Made from seccomp.policy by seccomp-gen; change the table, not this. */\n"
                        "#pragma once\n\n"
                        "#include <linux/filter.h>\n\n"
                        "#ifndef __%s__\n"
                        "#error \"these filters are for %s\"\n"
                        "#endif\n",
                        arch, arch);
        write_filter_or_die(p, GUEST, "seccomp_filter", out);
        write_filter_or_die(p, GUEST | BIT(SECTION_NOSUID), "seccomp_filter_nosuid", out);
        write_filter_or_die(p, GUEST | BIT(SECTION_ZYGOTE), "seccomp_filter_zygote", out);

        if (ferror(out) || fclose(out) != 0)
                die(p, "cannot write '%s'", path);
}

int main(int argc, char *argv[]) {
        static Policy p;

        if (argc != 4) {
                (void) fprintf(stderr, "Usage: seccomp-gen ARCH POLICY HEADER\n");
                return EXIT_FAILURE;
        }

        p.path = argv[2];
        p.arch = seccomp_arch_resolve_name(argv[1]);
        if (p.arch != SCMP_ARCH_X86_64 && p.arch != SCMP_ARCH_AARCH64)
                die(&p, "the table was not written with '%s' in mind", argv[1]);

        parse_or_die(&p);
        write_header_or_die(&p, argv[1], argv[3]);
        return EXIT_SUCCESS;
}
