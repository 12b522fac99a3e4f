/* metrics.c: current and past resource usage of sandboxes. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "api/e2b/sandbox/control.h"
#include "observe/observe.h"

#define IDS_MAX 100

static int cores_of(const Sandbox *sb) {
        uint32_t milli = sb->spec.limits.cpu_milli;

        return milli > 0 ? (int) ((milli + 999) / 1000) : get_nprocs();
}

/* Cache memory is part of the used memory, and is not reported separately. */
static json_t *moment_json(const Sandbox *sb, const ObserveMoment *m) {
        int cores = cores_of(sb);

        return json_pack("{s:o, s:I, s:i, s:f, s:I, s:I, s:I, s:I, s:I}",
                        "timestamp", json_time(m->at),
                        "timestampUnix", (json_int_t) (m->at / USEC_PER_SEC),
                        "cpuCount", cores,
                        "cpuUsedPct", round(m->cpu_percent / cores * 100) / 100,
                        "memUsed", (json_int_t) m->memory_bytes,
                        "memTotal", (json_int_t) sb->spec.limits.memory_bytes,
                        "memCache", (json_int_t) 0,
                        "diskUsed", (json_int_t) m->disk_bytes,
                        "diskTotal", (json_int_t) sb->spec.limits.disk_bytes);
}

static bool look_now(Sandbox *sb, ObserveMoment *ret) {
        SandboxUsage usage = { 0 };

        if (e2b_is_paused(sb) || sandbox_usage(sb, &usage) < 0)
                return false;
        *ret = (ObserveMoment) {
                .at = clock_wall_usec(),
                .cpu_percent = usage.has_cpu ? usage.cpu_percent : 0,
                .memory_bytes = usage.memory_bytes,
                .disk_bytes = usage.disk_bytes,
        };
        return true;
}

void e2b_sandbox_metrics(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        const ObserveMoment *past;
        ObserveMoment now;
        usec_t start = 0, end = USEC_INFINITY - USEC_PER_SEC; /* whole seconds, both included */
        json_t *list;
        size_t n;

        if (!sb || e2b_read_second(q, "start", &start) < 0 || e2b_read_second(q, "end", &end) < 0)
                return;
        list = json_array();
        n = observe_past(q->api->rooms.observe, sb, &past);
        for (size_t i = 0; i < n; i++)
                if (past[i].at >= start && past[i].at < end + USEC_PER_SEC)
                        (void) json_array_append_new(list, moment_json(sb, past + i));
        if (look_now(sb, &now) && now.at >= start && now.at < end + USEC_PER_SEC)
                (void) json_array_append_new(list, moment_json(sb, &now));
        (void) api_answer(q, 200, list);
}

void e2b_sandboxes_metrics(ApiRequest *q) {
        const char *p = http_query(q->http, "sandbox_ids");
        json_t *all = json_object();

        for (unsigned n = 0; p && *p && n < IDS_MAX; n++) {
                size_t size = strcspn(p, ",");
                char id[SANDBOX_NAME_MAX + 1];
                ObserveMoment now;
                Sandbox *sb;

                (void) snprintf(id, sizeof(id), "%.*s", (int) MIN_OF(size, sizeof(id) - 1), p);
                sb = manager_find(q->manager, &q->who, id);
                if (sb && !sandbox_is_ending(sb) && look_now(sb, &now))
                        (void) json_object_set_new(all, sb->id, moment_json(sb, &now));
                p += size + (p[size] == ',');
        }
        (void) api_answer(q, 200, json_pack("{s:o}", "sandboxes", all));
}
