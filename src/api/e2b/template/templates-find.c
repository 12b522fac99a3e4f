/* templates-find.c: names, ids and lookup of templates. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/template/templates.h"
#include "core/secret.h"
#include "core/template.h"

#define TEAM "team" /* for callers without a tenant */

const char *e2b_own_tenant(const ApiRequest *q) {
        return q->who.tenant ? q->who.tenant : "";
}

const char *e2b_team(const ApiRequest *q) {
        return q->who.tenant && *q->who.tenant ? q->who.tenant : TEAM;
}

Images *e2b_images(ApiRequest *q) {
        if (!q->api->rooms.images)
                (void) e2b_error(q, 501, "this daemon keeps no templates");
        return q->api->rooms.images;
}

Builds *e2b_builds(ApiRequest *q) {
        if (!q->api->rooms.builds)
                (void) e2b_error(q, 501, "this daemon builds no templates");
        return q->api->rooms.builds;
}

/* Names. */

bool e2b_is_uuid(const char *text) {
        static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

        if (strlen(text) != BUILD_ID_LENGTH)
                return false;
        for (size_t i = 0; i < BUILD_ID_LENGTH; i++)
                if (form[i] == 'x' ? !isxdigit((unsigned char) text[i]) : text[i] != form[i])
                        return false;
        return true;
}

/* Removes surrounding blanks, and lowers all letters. */
static int templates_find_clean(const char *text, char *ret, size_t size) {
        size_t n;

        text += strspn(text, " \t\r\n");
        n = strlen(text);
        while (n > 0 && strchr(" \t\r\n", text[n - 1]))
                n--;
        if (n == 0 || n >= size)
                return -EINVAL;
        for (size_t i = 0; i < n; i++)
                ret[i] = (char) tolower((unsigned char) text[i]);
        ret[n] = '\0';
        return 0;
}

int e2b_name_parse(const char *text, const char *team, E2bName *ret, Error *reterr) {
        char word[TEMPLATE_NAME_MAX + TEMPLATE_TAG_MAX + 2];
        size_t n = strlen(team);
        const char *name = word;
        int r;

        if (templates_find_clean(text, word, sizeof(word)) < 0)
                return error_set(reterr, -EINVAL, "'%.100s' is no name of a template", text);
        if (strncmp(word, team, n) == 0 && word[n] == '/')
                name = word + n + 1;
        r = template_name_parse(name, &ret->name, reterr);
        if (r < 0)
                return r;
        ret->tagged = strchr(name, ':');
        if (!ret->tagged)
                (void) snprintf(ret->name.tag, sizeof(ret->name.tag), E2B_DEFAULT_TAG);
        return 0;
}

int e2b_tag_parse(const char *text, char ret[static TEMPLATE_TAG_MAX + 1], Error *reterr) {
        char word[TEMPLATE_TAG_MAX + 1], full[TEMPLATE_TAG_MAX + 8];
        TemplateName name;

        if (templates_find_clean(text, word, sizeof(word)) >= 0 && !e2b_is_uuid(word)) {
                (void) snprintf(full, sizeof(full), "x:%s", word);
                if (!strchr(word, ':') && template_name_parse(full, &name, NULL) >= 0) {
                        memcpy(ret, name.tag, sizeof(name.tag));
                        return 0;
                }
        }
        return error_set(reterr, -EINVAL, "invalid tag '%.100s': letters, digits, '_', '.', '-', and no UUID", text);
}

/* Twenty characters of [a-z0-9], like ids of sandboxes. */
void e2b_template_id(const char *tenant, const char *name, char ret[static E2B_TEMPLATE_ID_MAX]) {
        static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
        _cleanup_free_ char *text = NULL;
        uint8_t sum[SECRET_SHA256_SIZE] = { 0 };

        if (asprintf(&text, "template\n%s\n%s", tenant, name) < 0)
                text = NULL;
        else
                secret_sha256(text, strlen(text), sum);
        for (size_t i = 0; i < E2B_TEMPLATE_ID_MAX - 1; i++)
                ret[i] = digits[sum[i] % (sizeof(digits) - 1)];
        ret[E2B_TEMPLATE_ID_MAX - 1] = '\0';
}

/* The lookup. The caller's own templates come before common ones, and a name before an id. */

typedef struct TemplatesFindSearch {
        const char *own, *name; /* NULL: by id */
        const char *id;
        E2bFound *ret;
        unsigned best; /* 0: nothing yet */
} TemplatesFindSearch;

enum { NOTHING, EVERYBODYS, OWN };

static void templates_find_consider(TemplatesFindSearch *s, const char *tenant, const char *name) {
        unsigned rank = *s->own && strcmp(tenant, s->own) == 0 ? OWN : *tenant == '\0' ? EVERYBODYS : NOTHING;
        char id[E2B_TEMPLATE_ID_MAX];

        if (rank <= s->best)
                return;
        e2b_template_id(tenant, name, id);
        if (s->name ? strcmp(s->name, name) != 0 : strcmp(s->id, id) != 0)
                return;
        s->best = rank;
        (void) snprintf(s->ret->tenant, sizeof(s->ret->tenant), "%s", tenant);
        (void) snprintf(s->ret->name, sizeof(s->ret->name), "%s", name);
}

static int on_template(const TemplateInfo *info, void *userdata) {
        templates_find_consider(userdata, info->tenant, info->name);
        return 0;
}

static int on_record(BuildRecord *k, void *userdata) {
        templates_find_consider(userdata, k->tenant, k->name);
        return 0;
}

/* Templates that the daemon was started with; "base" is one of them. */
static bool find_spawners(ApiRequest *q, const TemplatesFindSearch *s) {
        static const char *const always[] = { "base", "host", "code-interpreter-v1" };
        const Strv *list = q->manager->config.templates;
        char name[TEMPLATE_NAME_MAX + 1], id[E2B_TEMPLATE_ID_MAX];

        for (size_t i = 0; i < ELEMENTSOF(always) + (list ? list->n : 0); i++) {
                const char *text = i < ELEMENTSOF(always) ? always[i] : list->items[i - ELEMENTSOF(always)];

                (void) snprintf(name, sizeof(name), "%.*s", (int) strcspn(text, "="), text);
                e2b_template_id("", name, id);
                if (s->name ? strcmp(s->name, name) == 0 : strcmp(s->id, id) == 0) {
                        *s->ret = (E2bFound) { .spawners = true };
                        (void) snprintf(s->ret->name, sizeof(s->ret->name), "%s", name);
                        return true;
                }
        }
        return false;
}

static bool templates_find_search(ApiRequest *q, TemplatesFindSearch *s) {
        if (q->api->rooms.images)
                (void) images_each(q->api->rooms.images, s->own, on_template, s);
        if (q->api->rooms.builds && s->best < OWN)
                (void) build_records_each(q->api->rooms.builds, s->own, /* name= */ NULL, on_record, s);
        if (s->best == NOTHING)
                return find_spawners(q, s);
        s->ret->own = strcmp(s->ret->tenant, s->own) == 0;
        return true;
}

int e2b_template_look(ApiRequest *q, const char *text, E2bFound *ret, Error *reterr) {
        TemplatesFindSearch s = { .own = e2b_own_tenant(q), .ret = ret };
        E2bName name;
        int r = e2b_name_parse(text, e2b_team(q), &name, reterr);

        if (r < 0)
                return r;
        *ret = (E2bFound) { 0 };
        s.name = name.name.name;
        if (!templates_find_search(q, &s)) {
                s.id = TAKE_PTR(s.name);
                if (!templates_find_search(q, &s))
                        return error_set(reterr, -ENOENT, "template '%.128s' not found", text);
        }
        memcpy(ret->tag, name.name.tag, sizeof(ret->tag));
        ret->tagged = name.tagged;
        return 0;
}

int e2b_template_need(ApiRequest *q, const char *text, bool own, E2bFound *ret) {
        Error error = { 0 };
        int r = e2b_template_look(q, text, ret, &error);

        if (r >= 0 && own && !ret->own)
                r = error_set(&error, -EPERM, "You don't have access to this sandbox template (%.128s)", text);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
        return r;
}

/* Tags. */

static int get_tag(ApiRequest *q, const E2bFound *t, const char *tag, E2bTag *ret) {
        char full[TEMPLATE_NAME_MAX + TEMPLATE_TAG_MAX + 2];
        TemplateInfo info;

        (void) snprintf(full, sizeof(full), "%s:%s", t->name, tag);
        if (!q->api->rooms.images || images_get_info(q->api->rooms.images, t->tenant, full, &info, /* reterr= */ NULL) < 0)
                return 0;
        if (strcmp(info.tenant, t->tenant) != 0 || strcmp(info.name, t->name) != 0)
                return 0;
        (void) snprintf(ret->tag, sizeof(ret->tag), "%s", info.tag);
        (void) snprintf(ret->digest, sizeof(ret->digest), "%s", info.image->digest);
        ret->updated_at = info.updated_at;
        return 1;
}

int e2b_template_tag(ApiRequest *q, const E2bFound *t, const char *tag, E2bTag *ret) {
        if (get_tag(q, t, tag, ret) > 0)
                return 1;
        return strcmp(tag, E2B_DEFAULT_TAG) == 0 ? get_tag(q, t, TEMPLATE_TAG, ret) : 0;
}

const BuildRecord *e2b_record_of(ApiRequest *q, const E2bFound *t, const char *digest) {
        return q->api->rooms.builds ? build_record_of(q->api->rooms.builds, t->tenant, t->name, digest) : NULL;
}

void e2b_build_of(ApiRequest *q, const E2bFound *t, const char *digest, char ret[static BUILD_ID_LENGTH + 1]) {
        const BuildRecord *k = e2b_record_of(q, t, digest);
        uint8_t sum[SECRET_SHA256_SIZE];
        char text[TEMPLATE_NAME_MAX + 80], hex[2 * SECRET_SHA256_SIZE + 1];

        if (k) {
                memcpy(ret, k->id, sizeof(k->id));
                return;
        }
        (void) snprintf(text, sizeof(text), "build\n%s\n%s", *digest ? "" : t->name, digest);
        secret_sha256(text, strlen(text), sum);
        secret_hex(sum, sizeof(sum), hex);
        (void) snprintf(ret, BUILD_ID_LENGTH + 1, "%.8s-%.4s-8%.3s-8%.3s-%.12s", hex, hex + 8, hex + 12, hex + 15, hex + 18);
}
