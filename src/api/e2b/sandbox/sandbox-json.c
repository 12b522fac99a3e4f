/* sandbox-json.c: sandboxes in the JSON of E2B's API. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "api/e2b/e2b.h"
#include "config/config.h"

#define MB_SHIFT  20
#define FAR_AWAY  ((usec_t) 253402300799 * USEC_PER_SEC) /* end of the year 9999: the dialect cannot say "never" */

static void e2b_sandbox_json_put(json_t *o, const char *key, json_t *value) {
        (void) json_object_set_new_nocheck(o, key, value);
}

static json_t *domain_json(const Api *api) {
        const char *domain = api->manager->settings->e2b.domain;

        return json_text_or_null(*domain ? domain : NULL);
}

static json_t *token_json(const Sandbox *sb, const Api *api, void (*make)(const Api *api, const char *id, char ret[static E2B_TOKEN_MAX])) {
        char token[E2B_TOKEN_MAX];

        make(api, sb->id, token);
        return json_string(token);
}

/* The name of the template without its tag. A snapshot has none. */
static json_t *alias_json(const Sandbox *sb, const E2bRecord *record) {
        size_t n = strcspn(record->template_id, ":");

        return sb->spec.snapshot ? NULL : json_stringn(record->template_id, n);
}

static json_t *common_json(const Sandbox *sb, const E2bRecord *record) {
        json_t *o = json_object(), *alias = alias_json(sb, record);

        e2b_sandbox_json_put(o, "templateID", json_text_or_null(record->template_id));
        e2b_sandbox_json_put(o, "sandboxID", json_string(sb->id));
        e2b_sandbox_json_put(o, "clientID", json_string(E2B_CLIENT_ID));
        e2b_sandbox_json_put(o, "envdVersion", json_string(E2B_ENVD_VERSION));
        if (alias)
                e2b_sandbox_json_put(o, "alias", alias);
        return o;
}

json_t *e2b_sandbox_json(const Sandbox *sb, const Api *api) {
        const E2bRecord *record = e2b_record(sb);
        json_t *o;

        if (!record)
                return NULL;
        o = common_json(sb, record);
        if (record->secure)
                e2b_sandbox_json_put(o, "envdAccessToken", token_json(sb, api, e2b_access_token));
        e2b_sandbox_json_put(o, "trafficAccessToken", record->secure || record->private_traffic ? token_json(sb, api, e2b_traffic_token) : json_null());
        e2b_sandbox_json_put(o, "domain", domain_json(api));
        return o;
}

static json_t *e2b_sandbox_json_metadata(const Sandbox *sb) {
        json_t *j = sb->spec.metadata ? json_loads(sb->spec.metadata, JSON_ALLOW_NUL, NULL) : NULL;

        return j ? j : json_object();
}

static json_t *mounts_json(const Sandbox *sb) {
        json_t *list = json_array();

        for (size_t i = 0; i < sb->spec.n_volumes; i++)
                (void) json_array_append_new(list, json_pack("{s:s, s:s}", "name", sb->spec.volumes[i].name, "path", sb->spec.volumes[i].target));
        return list;
}

static json_t *listed_json(const Sandbox *sb, const E2bRecord *record) {
        const SandboxLimits *l = &sb->spec.limits;
        int cores = l->cpu_milli > 0 ? (int) ((l->cpu_milli + 999) / 1000) : get_nprocs();
        usec_t end = e2b_end_at(sb);
        json_t *o = common_json(sb, record);

        e2b_sandbox_json_put(o, "startedAt", json_time(e2b_started_at(sb)));
        e2b_sandbox_json_put(o, "endAt", json_time(end > 0 ? end : FAR_AWAY));
        e2b_sandbox_json_put(o, "cpuCount", json_integer(cores));
        e2b_sandbox_json_put(o, "memoryMB", json_integer((json_int_t) (l->memory_bytes >> MB_SHIFT)));
        e2b_sandbox_json_put(o, "diskSizeMB", json_integer((json_int_t) (l->disk_bytes >> MB_SHIFT)));
        e2b_sandbox_json_put(o, "state", json_string(e2b_is_paused(sb) ? "paused" : "running"));
        e2b_sandbox_json_put(o, "metadata", e2b_sandbox_json_metadata(sb));
        e2b_sandbox_json_put(o, "volumeMounts", mounts_json(sb));
        return o;
}

json_t *e2b_listed_json(const Sandbox *sb, const Api *api) {
        const E2bRecord *record = e2b_record(sb);

        return record ? listed_json(sb, record) : NULL;
}

json_t *e2b_detail_json(const Sandbox *sb, const Api *api, const Principal *who) {
        const E2bRecord *record = e2b_record(sb);
        json_t *o;

        if (!record)
                return NULL;
        o = listed_json(sb, record);
        if (record->secure && principal_may(who, MAY_EXEC))
                e2b_sandbox_json_put(o, "envdAccessToken", token_json(sb, api, e2b_access_token));
        e2b_sandbox_json_put(o, "allowInternetAccess", json_boolean(!record->no_internet && sb->spec.network != 0));
        e2b_sandbox_json_put(o, "domain", domain_json(api));
        if (record->network)
                e2b_sandbox_json_put(o, "network", json_incref(record->network));
        e2b_sandbox_json_put(o, "lifecycle", json_pack("{s:b, s:s}", "autoResume", record->auto_resume, "onTimeout",
                        sb->spec.on_timeout == ON_TIMEOUT_KILL ? "kill" : "pause"));
        return o;
}

/* Parses the old form of ids, "<id>-<clientID>". */
static bool shorten(const char *id, char ret[static SANDBOX_ID_LENGTH + 1]) {
        if (strcspn(id, "-") != SANDBOX_ID_LENGTH || id[SANDBOX_ID_LENGTH] != '-')
                return false;
        memcpy(ret, id, SANDBOX_ID_LENGTH);
        ret[SANDBOX_ID_LENGTH] = '\0';
        return true;
}

/* Clients of this surface do not see sandboxes that are being created or deleted. */
Sandbox *e2b_find_sandbox(ApiRequest *q, const char *id) {
        char short_id[SANDBOX_ID_LENGTH + 1];
        Sandbox *sb = manager_find(q->manager, &q->who, shorten(id, short_id) ? short_id : id);

        if (sb && sb->status != SANDBOX_INITIALIZING && !sandbox_is_ending(sb)) {
                api_about(q, sb, /* x= */ NULL);
                return sb;
        }
        (void) e2b_error(q, 404, "Sandbox \"%.64s\" doesn't exist or you don't have access to it", id);
        return NULL;
}
