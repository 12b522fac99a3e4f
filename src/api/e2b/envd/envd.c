/* envd.c: the routes of envd, and the small handlers of its plain HTTP. */

#include "api/e2b/envd/envd.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/secrets.h"

#define MIB       ((uint64_t) 1 << 20)
#define COMPOSE_MAX ((size_t) 4 << 20)

static void health(ApiRequest *q) {
        (void) e2b_empty(q, 204);
}

static long long cpu_count(const Sandbox *sb) {
        long n = sysconf(_SC_NPROCESSORS_ONLN);

        return sb->spec.limits.cpu_milli > 0 ? (sb->spec.limits.cpu_milli + 999) / 1000 : n > 0 ? n : 1;
}

static void metrics(ApiRequest *q) {
        const SandboxLimits *limits = &q->sandbox->spec.limits;
        SandboxUsage usage = { 0 };
        int r = sandbox_usage(q->sandbox, &usage);

        if (r < 0) {
                (void) e2b_errno(q, r, NULL);
                return;
        }
        (void) api_answer(q, 200,
                        json_pack("{s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "ts", (json_int_t) time(NULL), "cpu_count",
                                        (json_int_t) cpu_count(q->sandbox), "cpu_used_pct", round(usage.cpu_percent * 100) / 100, "mem_total",
                                        (json_int_t) limits->memory_bytes, "mem_used", (json_int_t) usage.memory_bytes, "mem_cache", (json_int_t) 0,
                                        "mem_total_mib", (json_int_t) (limits->memory_bytes / MIB), "mem_used_mib",
                                        (json_int_t) (usage.memory_bytes / MIB), "disk_used", (json_int_t) usage.disk_bytes, "disk_total",
                                        (json_int_t) limits->disk_bytes));
}

/* The environment of every process in the sandbox. A secret is shown as such, without its name. */
static void envs(ApiRequest *q) {
        const Strv *env = &q->sandbox->spec.env;
        json_t *answer = json_object();

        for (size_t i = 0; answer && i < env->n; i++) {
                const char *item = env->items[i];
                size_t n = strcspn(item, "=");

                if (secret_reference(item))
                        (void) json_object_setn_new(answer, item, n, json_string(SECRET_PREFIX));
                else if (item[n] == '=')
                        (void) json_object_setn_new(answer, item, n, json_utf8(item + n + 1, strlen(item + n + 1)));
        }
        (void) api_answer(q, 200, answer);
}

static const char *const files_queries[] = { "path", "username", "signature", "signature_expiration", NULL };

const ApiRoute e2b_envd_routes[] = {
        { "GET", "/health", MAY_PING, .handle = health },
        { "GET", "/metrics", MAY_SEE, .handle = metrics },
        { "GET", "/envs", MAY_SEE, .handle = envs },
        { "GET", E2B_FILES, MAY_READ, .handle = envd_files_get, .queries = files_queries },
        { "POST", E2B_FILES, MAY_WRITE, .body = HTTP_BODY_STREAM, .handle = envd_files_post, .data = envd_files_post_data, .queries = files_queries },
        { "POST", E2B_FILES "/compose", MAY_WRITE, .body = HTTP_BODY_COLLECT, .body_max = COMPOSE_MAX, .handle = envd_files_compose },
        { "POST", "/{service}/{method}", MAY_EXEC, .body = HTTP_BODY_STREAM, .handle = connect_handle, .data = connect_data },
        { 0 },
};
