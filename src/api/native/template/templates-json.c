/* templates-json.c: templates and makings as JSON. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/native/template/templates.h"

#define USERS_MAX 100 /* that are named */

static json_t *strv_json(const Strv *v) {
        json_t *list = json_array();

        for (size_t i = 0; i < v->n; i++)
                (void) json_array_append_new(list, json_text_or_null(v->items[i]));
        return list;
}

/* "k=v" */
static json_t *map_json(const Strv *v) {
        json_t *map = json_object();

        for (size_t i = 0; i < v->n; i++) {
                const char *equals = strchr(v->items[i], '=');
                _cleanup_free_ char *name = strndup(v->items[i], equals ? (size_t) (equals - v->items[i]) : strlen(v->items[i]));
                json_t *value = json_text_or_null(equals ? equals + 1 : "");

                if (!name || json_object_set_new(map, name, value) < 0)
                        break;
        }
        return map;
}

static json_t *templates_json_config(const ImageConfig *c) {
        return json_pack("{s:o,s:o,s:o,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
                        "env", map_json(&c->env),
                        "workdir", json_text_or_null(c->workdir),
                        "user", json_text_or_null(c->user),
                        "uid", (json_int_t) c->uid,
                        "gid", (json_int_t) c->gid,
                        "home", json_text_or_null(c->home),
                        "entrypoint", strv_json(&c->entrypoint),
                        "cmd", strv_json(&c->cmd),
                        "exposed", strv_json(&c->exposed),
                        "labels", map_json(&c->labels),
                        "startCommand", json_text_or_null(c->start_command),
                        "readyCommand", json_text_or_null(c->ready_command));
}

/* Sandboxes that stand on it and have not ended. */
static void add_users(json_t *j, const Manager *m, const char *tenant, const Image *image) {
        json_t *list = json_array();
        json_int_t n = 0;

        for (const Sandbox *sb = m->sandboxes; sb; sb = sb->hh.next) {
                if (!sb->spec.digest || sandbox_status_is_ended(sb->status) || strcmp(sb->spec.digest, image->digest) != 0)
                        continue;
                if (tenant && strcmp(sb->spec.tenant ? sb->spec.tenant : "", tenant) != 0)
                        continue;
                if (n++ < USERS_MAX)
                        (void) json_array_append_new(list, json_string(sb->id));
        }
        (void) json_object_set_new(j, "sandboxes", list);
        (void) json_object_set_new(j, "sandboxCount", json_integer(n));
}

json_t *native_template_json(Images *i, const TemplateInfo *t, bool all) {
        const Image *image = t->image;
        json_t *j = json_pack("{s:s,s:s,s:o,s:o,s:s,s:o,s:o,s:o,s:I,s:I,s:o,s:o,s:o}",
                        "name", t->name,
                        "tag", t->tag,
                        "reference", json_sprintf("%s:%s", t->name, t->tag),
                        "tenant", json_text_or_null(*t->tenant ? t->tenant : NULL),
                        "digest", image->digest,
                        "layer", json_text_or_null(*image->layer ? image->layer : NULL),
                        "base", json_text_or_null(*image->layer ? NULL : image->base),
                        "source", json_text_or_null(image->source),
                        "bytes", (json_int_t) t->bytes,
                        "sharedBytes", (json_int_t) t->shared_bytes,
                        "createdAt", json_time(image->created_at),
                        "updatedAt", json_time(t->updated_at),
                        "problem", json_text_or_null(t->problem));
        json_t *layers;

        if (!j || !all)
                return j;
        layers = image->layers ? json_loads(image->layers, 0, NULL) : NULL;
        (void) json_object_set_new(j, "layers", layers ? layers : json_array());
        (void) json_object_set_new(j, "config", templates_json_config(&image->config));
        return j;
}

void native_template_add_users(json_t *j, ApiRequest *q, const Image *image) {
        add_users(j, q->manager, q->who.tenant, image);
}

json_t *native_making_json(const Making *k) {
        MakingInfo m;
        json_t *error = NULL;

        making_info(k, &m);
        if (m.error)
                error = json_pack("{s:i,s:o}", "errno", -m.error_code, "message", json_text_or_null(m.error));
        return json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:{s:I,s:I},s:I,s:o,s:o,s:o}",
                        "id", m.id,
                        "kind", making_kind_name(m.kind),
                        "status", making_status_name(m.status),
                        "template", json_text_or_null(m.name),
                        "tenant", json_text_or_null(*m.tenant ? m.tenant : NULL),
                        "digest", json_text_or_null(m.digest),
                        "stage", json_text_or_null(m.stage),
                        "progress", "done", (json_int_t) m.done, "total", (json_int_t) m.total,
                        "logBytes", (json_int_t) m.log_bytes,
                        "error", error ? error : json_null(),
                        "createdAt", json_time(m.created_at),
                        "endedAt", json_time(m.ended_at));
}
