#include "core/enforce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/path.h"
#include "core/internal.h"
#include "core/limits.h"

#define NAMES_TEXT_MAX 256

void enforce_done(Enforce *e) {
        strv_done(&e->languages);
        strv_done(&e->programs);
}

int enforce_read(const Manager *m, const char *text, Enforce *ret, Error *reterr) {
        *ret = (Enforce) { .languages = STRV_INIT(ENFORCE_LIST_MAX), .programs = STRV_INIT(4 * ENFORCE_LIST_MAX) };
        if (!text || !*text)
                return 0;
        if (!m->read_policy)
                return error_set(reterr, -EOPNOTSUPP, "this daemon cannot read policies");
        return m->read_policy(text, ret, reterr);
}

const Enforce *sandbox_enforce(Sandbox *sb) {
        static const Enforce nothing;
        Error error = { 0 };

        if (!sb->spec.policy || !*sb->spec.policy)
                return &nothing;
        if (sb->enforce)
                return sb->enforce;
        sb->enforce = malloc(sizeof(Enforce));
        if (sb->enforce && enforce_read(sb->manager, sb->spec.policy, sb->enforce, &error) < 0) {
                log_error("sandbox %s: its policy cannot be read: %s", sb->id, error.text);
                sandbox_enforce_forget(sb);
        }
        return sb->enforce;
}

void sandbox_enforce_forget(Sandbox *sb) {
        if (sb->enforce)
                enforce_done(sb->enforce);
        free(sb->enforce);
        sb->enforce = NULL;
}

/* The deepest listed path that contains the path decides; a denied one always does. */
bool enforce_is_writable(const Enforce *e, const char *path) {
        bool writable = !(e->rules.flags & RULES_SEALED);
        size_t deepest = 0;
        RulesPathKind kind;

        for (const char *p = NULL; (p = rules_next_path(&e->rules, p, &kind));) {
                if (!path_is_below(path, p))
                        continue;
                if (kind == RULES_DENIED)
                        return false;
                if (strlen(p) < deepest)
                        continue;
                deepest = strlen(p);
                writable = kind == RULES_WRITABLE;
        }
        return writable;
}

const char *enforce_workdir(const Enforce *e) {
        RulesPathKind kind;

        if (enforce_is_writable(e, ENFORCE_WORKDIR))
                return ENFORCE_WORKDIR;
        for (const char *p = NULL; (p = rules_next_path(&e->rules, p, &kind));)
                if (kind == RULES_WRITABLE && enforce_is_writable(e, p))
                        return p;
        return ENFORCE_WORKDIR;
}

static void lower64(uint64_t *value, uint64_t max, bool may_be_none) {
        if (max > 0 && (*value > max || (may_be_none && *value == 0)))
                *value = max;
}

int enforce_settle(const Manager *m, SandboxSpec *spec, Error *reterr) {
        _cleanup_(enforce_done) Enforce e = { 0 };
        const char *workdir;
        int r;

        if (!spec->policy || !*spec->policy)
                return 0;
        r = enforce_read(m, spec->policy, &e, reterr);
        if (r < 0)
                return r;
        lower64(&spec->limits.memory_bytes, e.memory_max, /* may_be_none= */ false);
        lower64(&spec->limits.disk_bytes, e.total_size_max, /* may_be_none= */ false);
        lower64(&spec->limits.exec_timeout_usec, e.execution_time_max, /* may_be_none= */ true);
        if (e.cpu_milli_max > 0 && (spec->limits.cpu_milli == 0 || spec->limits.cpu_milli > e.cpu_milli_max))
                spec->limits.cpu_milli = e.cpu_milli_max;
        workdir = enforce_workdir(&e);
        if ((spec->workdir && *spec->workdir) || strcmp(workdir, ENFORCE_WORKDIR) == 0)
                return 0;
        free(spec->workdir);
        spec->workdir = strdup(workdir);
        return spec->workdir ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

int enforce_check_limits(const Enforce *e, const SandboxLimits *limits, Error *reterr) {
        SandboxLimits ceiling = *limits;
        int r;

        if (e->memory_max > 0)
                ceiling.memory_bytes = e->memory_max;
        if (e->cpu_milli_max > 0)
                ceiling.cpu_milli = e->cpu_milli_max;
        if (e->execution_time_max > 0)
                ceiling.exec_timeout_usec = e->execution_time_max;
        if (e->total_size_max > 0)
                ceiling.disk_bytes = e->total_size_max;
        r = limits_check(limits, &ceiling, reterr);
        return r < 0 ? error_prefix(reterr, -EKEYREJECTED, "beyond the policy") : 0;
}

bool enforce_built_alike(const Manager *m, const char *a, const char *b) {
        _cleanup_(enforce_done) Enforce one = { 0 }, other = { 0 };
        Error error = { 0 };

        if (strcmp(a ? a : "", b ? b : "") == 0)
                return true;
        return enforce_read(m, a, &one, &error) >= 0 && enforce_read(m, b, &other, &error) >= 0 && rules_equal(&one.rules, &other.rules);
}

/* Executions. */

static void enforce_list(const Strv *v, char *ret, size_t size) {
        size_t used = 0;

        ret[0] = '\0';
        for (size_t i = 0; i < v->n && used < size; i++)
                used += (size_t) snprintf(ret + used, size - used, "%s%s", i > 0 ? ", " : "", v->items[i]);
}

bool enforce_language_allowed(const Enforce *e, const char *language) {
        for (size_t i = 0; i < e->languages.n; i++)
                if (strcasecmp(e->languages.items[i], language) == 0)
                        return true;
        return e->languages.n == 0;
}

/* The name of a program, if it is in a directory where a template has its programs. Elsewhere any file could
 * have that name. */
static const char *system_name(const char *program) {
        static const char *const places[] = { "/usr/local/bin/", "/usr/bin/", "/bin/" };

        if (!strchr(program, '/'))
                return program;
        for (size_t i = 0; i < ELEMENTSOF(places); i++)
                if (strncmp(program, places[i], strlen(places[i])) == 0)
                        return strchr(program + strlen(places[i]), '/') ? NULL : program + strlen(places[i]);
        return NULL;
}

/* "python3.11" and "python" count as "python3". */
static bool is_version_of(const char *name, const char *program) {
        size_t n = strlen(program);

        while (n > 1 && strchr("0123456789.", program[n - 1]))
                n--;
        return strncmp(name, program, n) == 0 && name[n + strspn(name + n, "0123456789.")] == '\0';
}

int enforce_check_program(const Enforce *e, const char *program, Error *reterr) {
        const char *name = system_name(program);
        char languages[NAMES_TEXT_MAX], programs[NAMES_TEXT_MAX];

        if (e->languages.n == 0 || !(e->rules.flags & RULES_NO_PROCESSES))
                return 0; /* where any program can start any other, a check of the first is useless */
        for (size_t i = 0; name && i < e->programs.n; i++)
                if (is_version_of(name, e->programs.items[i]))
                        return 0;
        enforce_list(&e->languages, languages, sizeof(languages));
        enforce_list(&e->programs, programs, sizeof(programs));
        return error_set(reterr, -ENOEXEC, "the policy allows programs in %s only, and '%.100s' runs none of them: use one of %s",
                        languages, program, programs);
}

int enforce_check_time(const Enforce *e, usec_t timeout_usec, Error *reterr) {
        char asked[32] = "no limit";

        if (e->execution_time_max == 0 || (timeout_usec > 0 && timeout_usec <= e->execution_time_max))
                return 0;
        if (timeout_usec > 0)
                (void) snprintf(asked, sizeof(asked), "%.15g", (double) timeout_usec / (double) USEC_PER_SEC);
        return error_set(reterr, -EKEYREJECTED, "timeoutSeconds: %s exceeds the policy's maximum of %.15g (maxExecutionTime)", asked,
                        (double) e->execution_time_max / (double) USEC_PER_SEC);
}

static int check_all(const Enforce *e, const ExecutionSpec *spec, Error *reterr) {
        int r;

        if (e->no_environment && spec->env.n > 0 && !spec->env_is_ours)
                return error_set(reterr, -EKEYREJECTED, "env: the policy gives executions no variables (allowEnvironmentAccess is false)");
        r = spec->has_timeout ? enforce_check_time(e, spec->timeout_usec, reterr) : 0;
        if (r < 0 || spec->args.n == 0)
                return r;
        return enforce_check_program(e, spec->args.items[0], reterr);
}

int enforce_check_execution(Sandbox *sb, const ExecutionSpec *spec, Error *reterr) {
        const Enforce *e = sandbox_enforce(sb);
        Error error = { 0 };
        int r;

        if (!e)
                return error_set(reterr, -EIO, "the sandbox's policy cannot be read; nothing runs without it");
        r = check_all(e, spec, &error);
        if (r < 0) {
                observe_security(sb->manager, "policy", sb, "%s", error.text);
                (void) error_set(reterr, r, "%s", error.text);
        }
        return r;
}
