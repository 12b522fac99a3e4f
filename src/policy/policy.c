/* policy.c: creates and frees policies, and checks requests against them, with D4's messages. */

#include "policy/policy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "base/path.h"
#include "policy/internal.h"

void policy_init(Policy *p) {
        *p = (Policy) {
                .read_only_paths = STRV_INIT(POLICY_PATHS_MAX),
                .writable_paths = STRV_INIT(POLICY_PATHS_MAX),
                .denied_paths = STRV_INIT(POLICY_PATHS_MAX),
                .languages = STRV_INIT(POLICY_LANGUAGES_MAX),
                .has_file_system = true,
                .process_creation = true,
                .environment_access = true,
        };
        egress_policy_init(&p->network);
}

void policy_done(Policy *p) {
        egress_policy_done(&p->network);
        strv_done(&p->read_only_paths);
        strv_done(&p->writable_paths);
        strv_done(&p->denied_paths);
        strv_done(&p->languages);
        for (size_t i = 0; i < p->n_credentials; i++) {
                free(p->credentials[i].secret);
                free(p->credentials[i].domain);
                free(p->credentials[i].env);
                strv_done(&p->credentials[i].headers);
        }
        free(p->credentials);
        *p = (Policy) { 0 };
}

/* A number, possibly with a fraction, and KB, MB or GB; without a unit: MB. */
int policy_memory_parse(const char *text, uint64_t *ret) {
        size_t n = strspn(text, "0123456789.");
        char copy[64];

        if (n == 0 || n > 32)
                return -EINVAL;
        if (text[n] && strcasecmp(text + n, "KB") != 0 && strcasecmp(text + n, "MB") != 0 && strcasecmp(text + n, "GB") != 0)
                return -EINVAL;
        (void) snprintf(copy, sizeof(copy), "%s%s", text, text[n] ? "" : "MB");
        return parse_size(copy, ret) < 0 ? -EINVAL : 0;
}

bool policy_language_allowed(const Policy *p, const char *language) {
        for (size_t i = 0; i < p->languages.n; i++)
                if (strcasecmp(p->languages.items[i], language) == 0)
                        return true;
        return p->languages.n == 0;
}

bool policy_url_allowed(const Policy *p, const char *url) {
        EgressVerdict v;
        EgressUrl u;

        if (egress_url_parse(url, /* method= */ NULL, &u, /* reterr= */ NULL) < 0)
                return false;
        v = egress_decide(&p->network, /* reachable= */ NULL, 0, &u.question);
        return v.action == EGRESS_ALLOW;
}

/* Checks of requests. */

static void format_bytes(uint64_t bytes, char ret[static 32]) {
        double x = (double) bytes;

        if (bytes < 1024)
                (void) snprintf(ret, 32, "%" PRIu64 "B", bytes);
        else if (bytes < 1 << 20)
                (void) snprintf(ret, 32, "%.1fKB", x / 1024);
        else if (bytes < 1 << 30)
                (void) snprintf(ret, 32, "%.1fMB", x / (1 << 20));
        else
                (void) snprintf(ret, 32, "%.1fGB", x / (1 << 30));
}

static int check_memory(const Policy *p, const PolicyRequest *q, JsonComplaints *c) {
        uint64_t bytes;
        char most[32];

        if (!q->memory)
                return 0;
        if (policy_memory_parse(q->memory, &bytes) < 0)
                return json_complain(c, "memory", "Invalid memory format: %.64s", q->memory);
        if (p->memory_max == 0 || bytes <= p->memory_max)
                return 0;
        format_bytes(p->memory_max, most);
        return json_complain(c, "memory", "Memory limit %.64s exceeds policy maximum %s", q->memory, most);
}

static int check_rates(const Policy *p, const PolicyRequest *q, JsonComplaints *c) {
        int r = 0;

        if (p->cpu_milli_max > 0 && q->cpu_milli > p->cpu_milli_max)
                r = json_complain(c, "cpu", "CPU limit %g exceeds policy maximum %g", q->cpu_milli / 1000.0, p->cpu_milli_max / 1000.0);
        if (r >= 0 && p->execution_time_max > 0 && q->timeout_usec > p->execution_time_max)
                r = json_complain(c, "timeout", "Timeout %" PRIu64 "ms exceeds policy maximum %" PRIu64 "ms", q->timeout_usec / USEC_PER_MSEC,
                                p->execution_time_max / USEC_PER_MSEC);
        return r;
}

static bool is_writable(const Policy *p, const char *path) {
        for (size_t i = 0; i < p->denied_paths.n; i++)
                if (path_is_below(path, p->denied_paths.items[i]))
                        return false;
        for (size_t i = 0; i < p->writable_paths.n; i++)
                if (path_is_below(path, p->writable_paths.items[i]))
                        return true;
        return p->writable_paths.n == 0;
}

static int check_workdir(const Policy *p, const PolicyRequest *q, JsonComplaints *c) {
        _cleanup_free_ char *path = NULL;
        int r;

        if (!q->workdir)
                return 0;
        r = path_normalize(q->workdir, &path);
        if (r == -ENOMEM)
                return r;
        return r >= 0 && is_writable(p, path) ? 0 : json_complain(c, "workdir", "Working directory %.200s not in allowed paths", q->workdir);
}

int policy_check_request(const Policy *p, const PolicyRequest *q, JsonComplaints *c) {
        int r = 0;

        if (q->has_env && !p->environment_access)
                r = json_complain(c, "env", "Environment variable access not allowed by security policy");
        if (r >= 0 && q->has_files && !p->has_file_system)
                r = json_complain(c, "files", "File system access not allowed by security policy");
        if (r >= 0)
                r = check_workdir(p, q, c);
        if (r >= 0)
                r = check_memory(p, q, c);
        return r >= 0 ? check_rates(p, q, c) : r;
}
