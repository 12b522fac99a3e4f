#include "spawner/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/id.h"
#include "base/path.h"
#include "spawner/ground.h"
#include "wire/guard.h"

#define ID_INSIDE_MAX 65532 /* the next one is PID 1's, and the one after it is the user nobody */
#define HOSTNAME_MAX  63
#define MEMORY_MIN    (UINT64_C(4) << 20)
#define DISK_MIN      (UINT64_C(1) << 20)
#define BYTES_MAX     (UINT64_C(1) << 50)
#define CPU_MILLI_MIN 10
#define CPU_MILLI_MAX 4096000
#define PIDS_MAX      4194303 /* the kernel's */
#define GROUP_NETWORK UINT32_C(0x0ad50000) /* 10.213.0.0/16 */
#define GROUP_HOSTS   UINT32_C(0x0000ffff)

/* Templates that need only the host. */
static const Template builtin[] = {
        { .name = (char *) "host" },
        { .name = (char *) "base", .furnished = true },
};

const Template *template_find(const Templates *t, const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(builtin); i++)
                if (strcmp(builtin[i].name, name) == 0)
                        return builtin + i;
        for (size_t i = 0; i < t->n; i++)
                if (strcmp(t->items[i].name, name) == 0)
                        return t->items + i;
        return NULL;
}

static bool is_template_name(const char *name) {
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

        return n > 0 && n < SPAWN_NAME_MAX && name[n] == '\0';
}

int template_add(Templates *t, const char *text, Error *reterr) {
        _cleanup_free_ char *name = strdup(text), *directory = NULL;
        char *sign = name ? strchr(name, '=') : NULL;
        int r;

        if (!name)
                return error_set(reterr, -ENOMEM, "out of memory");
        if (!sign)
                return error_set(reterr, -EINVAL, "--template: '%s' is not NAME=DIR", text);
        *sign = '\0';
        if (!is_template_name(name) || template_find(t, name))
                return error_set(reterr, -EINVAL, "--template: '%s' is no name for a template, or is taken", name);
        if (t->n >= TEMPLATES_MAX)
                return error_set(reterr, -E2BIG, "--template: more than %d", TEMPLATES_MAX);
        r = path_normalize(sign + 1, &directory);
        if (r < 0)
                return error_set(reterr, r, "--template: '%s' is no absolute path", sign + 1);
        if (ARRAY_EXTEND(t->items, t->n) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        t->items[t->n++] = (Template) { .name = TAKE_PTR(name), .directory = TAKE_PTR(directory) };
        return 0;
}

int check_id(const char *id, Error *reterr) {
        return id_is_valid(id) ? 0 : error_set(reterr, -EINVAL, "'%s' is no id of a sandbox", id);
}

static int check_hostname(const char *name, Error *reterr) {
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");

        if (n == 0 || n > HOSTNAME_MAX || name[n] || name[0] == '-' || name[n - 1] == '-')
                return error_set(reterr, -EINVAL, "'%s' is no host name (1 to %d letters, digits, '-' inside)", name,
                                HOSTNAME_MAX);
        return 0;
}

static int check_path(const char *path, Error *reterr) {
        _cleanup_free_ char *normal = NULL;
        int r = path_normalize(path, &normal);

        if (r == -ENOMEM)
                return error_set(reterr, r, "out of memory");
        if (r < 0 || strcmp(path, normal) != 0)
                return error_set(reterr, -EINVAL, "'%.200s' is no absolute, normalised path", path);
        return 0;
}

static int check_range(const char *what, uint64_t value, uint64_t min, uint64_t max, Error *reterr) {
        if (value < min || value > max)
                return error_set(reterr, -ERANGE, "%s: %llu is not from %llu to %llu", what, (unsigned long long) value,
                                (unsigned long long) min, (unsigned long long) max);
        return 0;
}

static int check_numbers(const SpawnCreate *c, Error *reterr) {
        const struct {
                const char *what;
                uint64_t value, min, max;
        } numbers[] = {
                { "uid",    c->uid,          0,             ID_INSIDE_MAX },
                { "gid",    c->gid,          0,             ID_INSIDE_MAX },
                { "memory", c->memory_bytes, MEMORY_MIN,    BYTES_MAX     },
                { "disk",   c->disk_bytes,   DISK_MIN,      BYTES_MAX     },
                { "pids",   c->pids,         1,             PIDS_MAX      },
                { "cpu",    c->cpu_milli ? c->cpu_milli : CPU_MILLI_MIN, CPU_MILLI_MIN, CPU_MILLI_MAX },
        };

        for (size_t i = 0; i < ELEMENTSOF(numbers); i++) {
                int r = check_range(numbers[i].what, numbers[i].value, numbers[i].min, numbers[i].max, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The jail examines the files; this checks only the text. Control characters would only confuse its readers. */
static int check_rule_path(const char *path, Error *reterr) {
        for (const char *p = path; *p; p++)
                if ((unsigned char) *p < ' ' || *p == 0x7f)
                        return error_set(reterr, -EINVAL, "a path of the rules has a control character");
        return check_path(path, reterr);
}

static int check_rules(const Rules *rules, Error *reterr) {
        RulesPathKind kind;

        for (const char *path = NULL; (path = rules_next_path(rules, path, &kind));) {
                int r = check_rule_path(path, reterr);
                if (r < 0)
                        return r;
                if (kind == RULES_WRITABLE && !(rules->flags & RULES_SEALED))
                        return error_set(reterr, -EINVAL, "'%.200s' is writable in a sandbox where everything is", path);
        }
        if (rules->file_size_max > BYTES_MAX)
                return error_set(reterr, -ERANGE, "file size: %llu is more than %llu", (unsigned long long) rules->file_size_max,
                                (unsigned long long) BYTES_MAX);
        return 0;
}

static int check_guards(GuardSet allowed, Error *reterr) {
        if (allowed & ~GUARD_ALL)
                return error_set(reterr, -EINVAL, "there are no such guards");
        for (Guard g = 0; g < _GUARD_MAX; g++)
                if ((allowed & GUARD_BIT(g)) && !guard_is_optional(g))
                        return error_set(reterr, -EINVAL, "there is no sandbox without the guard '%s'", guard_name(g));
        return 0;
}

/* An address in a group's network must be neither the first nor the last one, which mean the network and all
 * members. */
static int check_network(const SpawnCreate *c, bool privileged, Error *reterr) {
        if (c->network >= _SPAWN_NETWORK_MAX)
                return error_set(reterr, -EINVAL, "there is no network %u", c->network);
        if (c->zygote && (c->network == SPAWN_NETWORK_LINKED || c->uid == 0 || c->rules.flags & RULES_SEALED))
                return error_set(reterr, -EINVAL, "no zygote enters a sandbox in a group's network, of root, or with sealed paths");
        if (c->network != SPAWN_NETWORK_LINKED)
                return c->address == 0 ? 0 : error_set(reterr, -EINVAL, "an address is for a sandbox in a group's network only");
        if (!privileged)
                return error_set(reterr, -EOPNOTSUPP, "networks between sandboxes need `cove serve` to be started by root");
        if (c->address <= GROUP_NETWORK || c->address >= (GROUP_NETWORK | GROUP_HOSTS))
                return error_set(reterr, -ERANGE, "address: 0x%08x is not from 10.213.0.1 to 10.213.255.254", c->address);
        return 0;
}

int check_create(const SpawnCreate *c, const Templates *templates, bool privileged, Error *reterr) {
        int r;

        r = check_id(c->id, reterr);
        if (r < 0)
                return r;
        if (!template_find(templates, c->template_name))
                return error_set(reterr, -ENOENT, "there is no template '%s'", c->template_name);
        r = check_hostname(c->hostname, reterr);
        if (r < 0)
                return r;
        r = check_path(c->workdir, reterr);
        if (r < 0)
                return r;
        r = check_numbers(c, reterr);
        if (r < 0)
                return r;
        r = check_guards(c->allow_missing, reterr);
        if (r < 0)
                return r;
        r = check_rules(&c->rules, reterr);
        if (r >= 0)
                r = ground_check(c, privileged, reterr);
        return r < 0 ? r : check_network(c, privileged, reterr);
}

int check_listen_socket(int fd, Error *reterr) {
        static const struct {
                int option, wanted;
        } facts[] = {
                { SO_DOMAIN, AF_UNIX }, { SO_TYPE, SOCK_SEQPACKET }, { SO_ACCEPTCONN, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(facts); i++) {
                int value;

                if (getsockopt(fd, SOL_SOCKET, facts[i].option, &value, &(socklen_t) { sizeof(value) }) < 0 ||
                                value != facts[i].wanted)
                        return error_set(reterr, -ENOTSOCK, "the descriptor is no socket for PID 1 to listen on");
        }
        return 0;
}
