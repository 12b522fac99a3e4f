/* templates.c: what sandboxes start from: list, look, remove, and what makes them. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/template/templates.h"
#include "api/native/values.h"
#include "api/page.h"
#include "base/fd.h"
#include "config/config.h"

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX     10000
#define REFERENCE_MAX 511

Images *native_images(ApiRequest *q) {
        if (!q->api->rooms.images)
                (void) api_error(q, 501, "unsupported", NULL, "this daemon keeps no templates");
        return q->api->rooms.images;
}

const char *native_template_tenant(ApiRequest *q) {
        const char *own = q->who.tenant ? q->who.tenant : "", *named = http_query(q->http, "tenant");

        if (!named || strcmp(named, own) == 0)
                return own;
        if (q->who.scope != SCOPE_ADMIN) {
                (void) api_error(q, 403, "permission", NULL, "tenant: only an admin may name another's");
                return NULL;
        }
        if (*named && !access_tenant(q->manager->access, named)) {
                (void) api_error(q, 404, "not_found", NULL, "there is no tenant '%.80s'", named);
                return NULL;
        }
        return named;
}

void native_template_error(ApiRequest *q, int r, const Error *error) {
        if (r == -EEXIST)
                (void) api_error(q, 409, "ambiguous", NULL, "%s", error->text);
        else
                (void) api_errno(q, r, error->text);
}

void native_answer_making(ApiRequest *q, const Making *k) {
        char where[128];

        (void) snprintf(where, sizeof(where), "/api/makings/%s", making_id(k));
        (void) http_add_header(q->http, "Location", where);
        (void) api_answer(q, 202, native_making_json(k));
}

/* List. */

typedef struct TemplatesPage {
        Images *images;
        json_t *list;
        uint64_t skip, limit;
        bool more;
} TemplatesPage;

static int templates_add(const TemplateInfo *info, void *userdata) {
        TemplatesPage *p = userdata;

        if (p->skip > 0) {
                p->skip--;
                return 0;
        }
        if (json_array_size(p->list) >= p->limit) {
                p->more = true;
                return -ECANCELED;
        }
        return json_array_append_new(p->list, native_template_json(p->images, info, /* all= */ false)) < 0 ? -ENOMEM : 0;
}

/* An admin sees everybody's unless one tenant is named. */
void native_template_list(ApiRequest *q) {
        Images *i = native_images(q);
        const char *tenant = i ? native_template_tenant(q) : NULL;
        uint64_t from = 0;
        TemplatesPage p = { .images = i, .limit = LIMIT_DEFAULT };
        int r;

        if (!tenant || api_query_uint(q, "limit", 1, LIMIT_MAX, &p.limit) < 0 || api_query_uint(q, "cursor", 0, UINT32_MAX, &from) < 0)
                return;
        p.skip = from;
        p.list = json_array();
        r = images_each(i, q->who.tenant || http_query(q->http, "tenant") ? tenant : NULL, templates_add, &p);
        if (r < 0 && !p.more) {
                json_decref(p.list);
                (void) api_errno(q, r, NULL);
                return;
        }
        if (p.more)
                (void) api_page_next_number(q, from + p.limit);
        (void) api_answer(q, 200, p.list);
}

void native_template_get(ApiRequest *q) {
        Images *i = native_images(q);
        const char *tenant = i ? native_template_tenant(q) : NULL;
        TemplateInfo info;
        Error error = { 0 };
        json_t *j;
        int r;

        if (!tenant)
                return;
        r = images_get_info(i, tenant, q->parameters[0], &info, &error);
        if (r < 0) {
                native_template_error(q, r, &error);
                return;
        }
        j = native_template_json(i, &info, /* all= */ true);
        if (j)
                native_template_add_users(j, q, info.image);
        (void) api_answer(q, 200, j);
}

void native_template_delete(ApiRequest *q) {
        Images *i = native_images(q);
        const char *tenant = i ? native_template_tenant(q) : NULL;
        Error error = { 0 };
        int r;

        if (!tenant)
                return;
        r = images_remove(i, tenant, q->parameters[0], &error);
        if (r < 0)
                native_template_error(q, r, &error);
        else
                (void) api_answer(q, 200, json_pack("{s:s,s:b}", "name", q->parameters[0], "deleted", 1));
}

/* Pull and push. */

typedef struct AuthBody {
        char *username, *password, *token;
} AuthBody;

typedef struct PullBody {
        char *image, *name, *platform;
        AuthBody auth;
} PullBody;

static void auth_done(AuthBody *a) {
        char *const texts[] = { a->username, a->password, a->token };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                if (texts[i])
                        explicit_bzero(texts[i], strlen(texts[i]));
                free(texts[i]);
        }
}

static const ShapeField auth_fields[] = {
        { "username", SHAPE_TEXT, offsetof(AuthBody, username), SHAPE_NULLABLE, .max = 1024  },
        { "password", SHAPE_TEXT, offsetof(AuthBody, password), SHAPE_NULLABLE, .max = 65536 },
        { "token",    SHAPE_TEXT, offsetof(AuthBody, token),    SHAPE_NULLABLE, .max = 65536 },
};
static const Shape auth_shape = SHAPE_BODY(auth_fields);

static const ShapeField native_template_pull_fields[] = {
        { "image",    SHAPE_TEXT,   offsetof(PullBody, image),    SHAPE_MANDATORY, .min = 1, .max = REFERENCE_MAX },
        { "name",     SHAPE_TEXT,   offsetof(PullBody, name),     SHAPE_NULLABLE,  .min = 1, .max = REFERENCE_MAX },
        { "platform", SHAPE_TEXT,   offsetof(PullBody, platform), SHAPE_NULLABLE,  .min = 3, .max = 64            },
        { "auth",     SHAPE_OBJECT, offsetof(PullBody, auth),     SHAPE_NULLABLE,  .shape = &auth_shape           },
};
const Shape native_template_pull_shape = SHAPE_BODY(native_template_pull_fields);

/* As cove-registry takes it. NULL: none was given, or no memory. */
static char *auth_text(const AuthBody *a) {
        char *text = NULL;
        int n = -1;

        if (a->token)
                n = asprintf(&text, "bearer %s", a->token);
        else if (a->username)
                n = asprintf(&text, "%s:%s", a->username, a->password ? a->password : "");
        return n < 0 ? NULL : text;
}

static void templates_wipe(char **text) {
        if (*text)
                explicit_bzero(*text, strlen(*text));
        free(*text);
}

static void pull_done(PullBody *b) {
        free(b->image);
        free(b->name);
        free(b->platform);
        auth_done(&b->auth);
}

void native_template_pull(ApiRequest *q) {
        _cleanup_(pull_done) PullBody b = { 0 };
        _cleanup_(templates_wipe) char *auth = NULL;
        Images *i = native_images(q);
        Error error = { 0 };
        Making *k;
        int r;

        if (!i || api_read(q, &b) < 0)
                return;
        auth = auth_text(&b.auth);
        r = images_pull(i, &q->who, &(ImagePull) { b.image, b.name, b.platform, auth }, &k, &error);
        if (r < 0)
                native_template_error(q, r, &error);
        else
                native_answer_making(q, k);
}

typedef struct PushBody {
        char *reference;
        AuthBody auth;
} PushBody;

static const ShapeField native_template_push_fields[] = {
        { "reference", SHAPE_TEXT,   offsetof(PushBody, reference), SHAPE_MANDATORY, .min = 1, .max = REFERENCE_MAX },
        { "auth",      SHAPE_OBJECT, offsetof(PushBody, auth),      SHAPE_NULLABLE, .shape = &auth_shape            },
};
const Shape native_template_push_shape = SHAPE_BODY(native_template_push_fields);

static void push_done(PushBody *b) {
        free(b->reference);
        auth_done(&b->auth);
}

void native_template_push(ApiRequest *q) {
        _cleanup_(push_done) PushBody b = { 0 };
        _cleanup_(templates_wipe) char *auth = NULL;
        Images *i = native_images(q);
        Error error = { 0 };
        Making *k;
        int r;

        if (!i || api_read(q, &b) < 0)
                return;
        auth = auth_text(&b.auth);
        r = images_push(i, &q->who, q->parameters[0], b.reference, auth, &k, &error);
        if (r < 0)
                native_template_error(q, r, &error);
        else
                native_answer_making(q, k);
}

/* Import. */

static void import_begin(ApiRequest *q, int fd, uint64_t size) {
        Error error = { 0 };
        Making *k;
        int r = images_import(q->api->rooms.images, &q->who, http_query(q->http, "name"), fd, &k, &error);

        if (r < 0)
                native_template_error(q, r, &error);
        else
                native_answer_making(q, k);
}

void native_template_import(ApiRequest *q) {
        Images *i = native_images(q);
        Error error = { 0 };
        int r;

        if (!i)
                return;
        r = images_check_depot(i, &error);
        if (r >= 0)
                r = manager_check_space(q->manager, &error);
        if (r < 0)
                native_template_error(q, r, &error);
        else if (!http_query(q->http, "name"))
                (void) native_complain(q, "name", "is missing: what the template shall be called");
        else
                spool_begin(q, q->manager->settings->images.image_bytes_max, import_begin);
}

/* Commit. */

typedef struct CommitBody {
        char *template_name;
} CommitBody;

static const ShapeField native_commit_fields[] = {
        { "template", SHAPE_TEXT, offsetof(CommitBody, template_name), SHAPE_MANDATORY, .min = 1, .max = REFERENCE_MAX },
};
const Shape native_commit_shape = SHAPE_BODY(native_commit_fields);

static void commit_done(CommitBody *b) {
        free(b->template_name);
}

void native_sandbox_commit(ApiRequest *q) {
        _cleanup_(commit_done) CommitBody b = { 0 };
        Images *i = native_images(q);
        Error error = { 0 };
        Making *k;
        int r;

        if (!i || api_read(q, &b) < 0)
                return;
        r = images_commit(i, &q->who, q->sandbox, b.template_name, &k, &error);
        if (r < 0)
                native_template_error(q, r, &error);
        else
                native_answer_making(q, k);
}
