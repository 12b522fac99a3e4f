/* policy-json.c: a sandbox's policy, and who enforces it, as JSON. */

#include <stdio.h>
#include <string.h>

#include "api/policy.h"

json_t *api_policy_json(const char *text) {
        json_t *j = text && *text ? json_loads(text, 0, NULL) : NULL;

        return j ? j : json_null();
}

static const char *languages_word(const Policy *p) {
        return p->process_creation ? "api: code of another language is refused; commands are not code, and may start what they like"
                                   : "api: the program is looked at when an execution is asked for, and it can start no other (kernel: seccomp); "
                                     "it may still become one";
}

/* Lists everything that a policy can say, which part enforces it, and whether this policy says it. */
static void policy_json_put_all(json_t *o, const Policy *p) {
        bool sealed = !p->has_file_system || p->writable_paths.n > 0;
        const struct {
                const char *field, *word;
                bool said;
        } rows[] = {
                { "network", "gate: names, addresses, methods and sizes; kernel: a network namespace of its own without any other way out", true },
                { "credentials", "gate: the value is put into requests outside of the sandbox", p->n_credentials > 0 },
                { "readOnlyPaths", "kernel: read-only mounts that cannot be renamed away", p->read_only_paths.n > 0 },
                { "writablePaths", "kernel: every other mount is read-only, and Landlock", sealed && p->has_file_system },
                { "allowFileSystem", "kernel: every mount is read-only, and Landlock", !p->has_file_system },
                { "deniedPaths", "kernel: an empty mount lies over each", p->denied_paths.n > 0 },
                { "maxFileSize", "kernel: RLIMIT_FSIZE of every process and file operation", p->file_size_max > 0 },
                { "maxTotalSize", "kernel: the size of the sandbox's disk", p->total_size_max > 0 },
                { "allowProcessCreation", "kernel: seccomp; threads can be made", !p->process_creation },
                { "allowEnvironmentAccess", "api: executions get the base environment", !p->environment_access },
                { "allowedLanguages", languages_word(p), p->languages.n > 0 },
                { "maxExecutionTime", "kernel: PID 1 of the sandbox ends what takes longer", p->execution_time_max > 0 },
                { "maxMemoryUsage", "kernel: cgroup", p->memory_max > 0 },
                { "maxCpuUsage", "kernel: cgroup", p->cpu_milli_max > 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                if (rows[i].said)
                        (void) json_object_set_new_nocheck(o, rows[i].field, json_string_nocheck(rows[i].word));
}

json_t *api_policy_enforcement_json(const char *text) {
        _cleanup_(policy_done) Policy p = { 0 };
        Error error = { 0 };
        json_t *o;

        if (!text || !*text || api_policy_parse_stored(text, &p, &error) < 0)
                return json_null();
        o = json_object();
        policy_json_put_all(o, &p);
        return o;
}
