/* record.c: options from a sandbox's creation that only this surface understands, as the text that the core
 * stores for it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/e2b.h"
#include "base/log.h"
#include "base/shape.h"

void e2b_record_done(E2bRecord *r) {
        free(r->template_id);
        free(r->mask_host);
        json_decref(r->network);
        *r = (E2bRecord) { 0 };
}

/* Options that are a word with a bool. */
static const struct {
        const char *name;
        size_t offset;
} flags[] = {
        { "secure", offsetof(E2bRecord, secure) },
        { "privateTraffic", offsetof(E2bRecord, private_traffic) },
        { "autoResume", offsetof(E2bRecord, auto_resume) },
        { "pauseDiskOnly", offsetof(E2bRecord, pause_disk_only) },
        { "noInternet", offsetof(E2bRecord, no_internet) },
};

static bool *flag_at(const E2bRecord *r, size_t i) {
        return (bool *) (void *) ((char *) (uintptr_t) r + flags[i].offset);
}

static int defaults(const Sandbox *sb, E2bRecord *ret) {
        *ret = (E2bRecord) { .secure = true };
        return shape_text_set(&ret->template_id, sb->spec.template_name ? sb->spec.template_name : "host");
}

static int e2b_record_fill(E2bRecord *r, json_t *j) {
        const char *id = json_string_value(json_object_get(j, "template")), *mask = json_string_value(json_object_get(j, "maskHost"));
        int k = 0;

        for (size_t i = 0; i < ELEMENTSOF(flags); i++)
                *flag_at(r, i) = json_is_true(json_object_get(j, flags[i].name));
        if (id)
                k = shape_text_set(&r->template_id, id);
        if (k >= 0 && mask)
                k = shape_text_set(&r->mask_host, mask);
        if (json_is_object(json_object_get(j, "network")))
                r->network = json_incref(json_object_get(j, "network"));
        return k;
}

static int e2b_record_read(const Sandbox *sb, E2bRecord *ret) {
        _cleanup_json_ json_t *whole = sb->spec.dialect ? json_loads(sb->spec.dialect, 0, NULL) : NULL;
        json_t *ours = json_object_get(whole, "e2b");
        int r = defaults(sb, ret);

        return r >= 0 && ours ? e2b_record_fill(ret, ours) : r;
}

static void e2b_record_free(void *record) {
        e2b_record_done(record);
        free(record);
}

const E2bRecord *e2b_record(const Sandbox *sb) {
        Sandbox *keeper = (Sandbox *) (uintptr_t) sb; /* only fills a cache: unchanged for the caller */
        E2bRecord *r;

        if (sb->dialect)
                return sb->dialect;
        r = calloc(1, sizeof(*r));
        if (!r || e2b_record_read(sb, r) < 0) {
                if (r)
                        e2b_record_free(r);
                return NULL;
        }
        keeper->dialect = r;
        keeper->dialect_free = e2b_record_free;
        return r;
}

char *e2b_record_print(const E2bRecord *r) {
        _cleanup_json_ json_t *whole = json_object();
        json_t *ours = json_object();

        (void) json_object_set_new(ours, "template", json_text_or_null(r->template_id));
        for (size_t i = 0; i < ELEMENTSOF(flags); i++)
                if (*flag_at(r, i))
                        (void) json_object_set_new(ours, flags[i].name, json_true());
        if (r->mask_host)
                (void) json_object_set_new(ours, "maskHost", json_text_or_null(r->mask_host));
        if (r->network)
                (void) json_object_set(ours, "network", r->network);
        (void) json_object_set_new(whole, "e2b", ours);
        return json_dumps(whole, JSON_COMPACT);
}

int e2b_record_write(Sandbox *sb, const E2bRecord *r) {
        _cleanup_free_ char *text = e2b_record_print(r);
        Error error = { 0 };
        int k = text ? sandbox_set_dialect(sb, text, &error) : -ENOMEM;

        if (k < 0)
                log_error("sandbox %s: its E2B fields cannot be saved: %s", sb->id, text ? error.text : "out of memory");
        return k;
}

bool e2b_is_paused(const Sandbox *sb) {
        return sb->status == SANDBOX_PAUSED || sb->status == SANDBOX_STOPPED;
}

usec_t e2b_started_at(const Sandbox *sb) {
        return sb->resumed_at > sandbox_owned_since(sb) ? sb->resumed_at : sandbox_owned_since(sb);
}

usec_t e2b_end_at(const Sandbox *sb) {
        return e2b_is_paused(sb) ? sb->changed_at : sb->expires_at;
}
