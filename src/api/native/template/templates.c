/* templates.c: templates: list, show, remove; pull, import, commit, push. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/template/templates.h"
#include "api/native/values.h"
#include "base/fd.h"
#include "config/config.h"

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX     10000
#define REFERENCE_MAX 511

#define USERS_MAX     100 /* that are named */

Images *native_images(ApiRequest *q) {
        return native_room(q, q->api->rooms.images, "this daemon keeps no templates");
}

void native_template_error(ApiRequest *q, int r, const Error *error) {
        if (r == -EEXIST)
                (void) api_error(q, 409, "ambiguous", NULL, "%s", error->text);
        else
                (void) api_errno(q, r, error->text);
}

/* One template as JSON. */

SHAPE_SHOWN(template_show_reference, TemplateInfo, t, json_sprintf("%s:%s", t->name, t->tag));
SHAPE_SHOWN(template_show_base, Image, i, json_text_or_null(*i->layer ? NULL : i->base));

static json_t *template_show_layers(const ShapeField *f, const void *object) {
        const Image *image = object;
        json_t *layers = image->layers ? json_loads(image->layers, 0, NULL) : NULL;

        return layers ? layers : json_array();
}

static const Shape template_image_shape = SHAPE_FIELDS(
        { "digest", SHAPE_CHARS, SHAPE_AT(Image, digest), .flags = SHAPE_ALWAYS        },
        { "layer",  SHAPE_CHARS, SHAPE_AT(Image, layer)                                },
        { "base",   SHAPE_TEXT,  0, .json = SHAPE_SHOW(template_show_base)             },
        { "source", SHAPE_TEXT,  SHAPE_AT(Image, source)                               });

static const Shape template_birth_shape = SHAPE_FIELDS(
        { "createdAt", SHAPE_UINT64, SHAPE_AT(Image, created_at), .unit = SHAPE_TIME });

#define OF_IMAGE(of) { NULL, SHAPE_POINTER, offsetof(TemplateInfo, image), SHAPE_BEARER, .shape = &(of) }
static const Shape native_template_answer = SHAPE_FIELDS(
        { "name",        SHAPE_BORROWED, offsetof(TemplateInfo, name),       SHAPE_ALWAYS },
        { "tag",         SHAPE_BORROWED, offsetof(TemplateInfo, tag),        SHAPE_ALWAYS },
        { "reference",   SHAPE_BORROWED, 0,                                  SHAPE_ALWAYS, .json = SHAPE_SHOW(template_show_reference) },
        { "tenant",      SHAPE_BORROWED, offsetof(TemplateInfo, tenant) },
        OF_IMAGE(template_image_shape),
        { "bytes",       SHAPE_UINT64,   offsetof(TemplateInfo, bytes) },
        { "sharedBytes", SHAPE_UINT64,   offsetof(TemplateInfo, shared_bytes) },
        OF_IMAGE(template_birth_shape),
        { "updatedAt",   SHAPE_UINT64,   offsetof(TemplateInfo, updated_at), .unit = SHAPE_TIME },
        { "problem",     SHAPE_BORROWED, offsetof(TemplateInfo, problem) });

#define CONFIG(member) offsetof(ImageConfig, member)
static const Shape template_config_shape = SHAPE_FIELDS(
        { "env", SHAPE_ENV, CONFIG(env) }, { "workdir", SHAPE_TEXT, CONFIG(workdir) },
        { "user", SHAPE_TEXT, CONFIG(user) }, { "uid", SHAPE_UINT32, CONFIG(uid) },
        { "gid", SHAPE_UINT32, CONFIG(gid) }, { "home", SHAPE_TEXT, CONFIG(home) },
        { "entrypoint", SHAPE_STRV, CONFIG(entrypoint) }, { "cmd", SHAPE_STRV, CONFIG(cmd) },
        { "exposed", SHAPE_STRV, CONFIG(exposed) }, { "labels", SHAPE_ENV, CONFIG(labels) },
        { "startCommand", SHAPE_TEXT, CONFIG(start_command) },
        { "readyCommand", SHAPE_TEXT, CONFIG(ready_command) });

static const Shape template_content_shape = SHAPE_FIELDS(
        { "layers", SHAPE_LIST,   0,                       .json = SHAPE_SHOW(template_show_layers) },
        { "config", SHAPE_OBJECT, offsetof(Image, config), .shape = &template_config_shape          });

typedef struct NativeTemplate {
        TemplateInfo info; /* first: OF_IMAGE() */
        json_t *users;
        uint64_t n_users;
} NativeTemplate;

static const Shape native_template_details_answer = SHAPE_FIELDS(
        { NULL,           SHAPE_OBJECT, 0,                                 SHAPE_BEARER, .shape = &native_template_answer },
        OF_IMAGE(template_content_shape),
        { "sandboxes",    SHAPE_STRV,   offsetof(NativeTemplate, users),   .json = SHAPE_MADE },
        { "sandboxCount", SHAPE_UINT64, offsetof(NativeTemplate, n_users) });

/* Adds the sandboxes that are based on it and have not ended. */
static void template_add_users(NativeTemplate *t, const Manager *m, const char *tenant) {
        for (const Sandbox *sb = m->sandboxes; sb; sb = sb->hh.next) {
                if (!sb->spec.digest || sandbox_status_is_ended(sb->status) || strcmp(sb->spec.digest, t->info.image->digest) != 0)
                        continue;
                if (tenant && strcmp(sb->spec.tenant ? sb->spec.tenant : "", tenant) != 0)
                        continue;
                if (t->n_users++ < USERS_MAX)
                        (void) json_array_append_new(t->users, json_string(sb->id));
        }
}

/* List. */

static int templates_add(const TemplateInfo *info, void *userdata) {
        return native_page_add(userdata, info, 0);
}

/* An admin sees the templates of all tenants, unless the request names one. */
static void native_template_list(ApiRequest *q) {
        _cleanup_page_ NativePage p = NATIVE_PAGE(q, LIMIT_DEFAULT, LIMIT_MAX, .counts = true, .cursor_max = UINT32_MAX);
        Images *i = native_images(q);
        const char *tenant = i ? native_tenant(q) : NULL;

        if (tenant && native_page_begin(&p) >= 0)
                native_page_answer(&p, images_each(i, q->who.tenant || http_query(q->http, "tenant") ? tenant : NULL, templates_add, &p));
}

static void native_template_get(ApiRequest *q) {
        Images *i = native_images(q);
        const char *tenant = i ? native_tenant(q) : NULL;
        NativeTemplate t = { 0 };
        Error error = { 0 };
        int r;

        if (!tenant)
                return;
        r = images_get_info(i, tenant, q->parameters[0], &t.info, &error);
        if (r < 0) {
                native_template_error(q, r, &error);
                return;
        }
        t.users = json_array();
        template_add_users(&t, q->manager, q->who.tenant);
        (void) api_show(q, 200, &t);
        json_decref(t.users);
}

static void native_template_delete(ApiRequest *q) {
        Images *i = native_images(q);
        const char *tenant = i ? native_tenant(q) : NULL;
        Error error = { 0 };
        int r = tenant ? images_remove(i, tenant, q->parameters[0], &error) : 0;

        if (r == -EEXIST)
                native_template_error(q, r, &error);
        else if (tenant)
                native_answer_deleted(q, q->parameters[0], r, error.text);
}

/* Pull and push. */

typedef struct AuthBody {
        char *username, *password, *token;
} AuthBody;

typedef struct PullBody {
        char *image, *name, *platform;
        AuthBody auth;
} PullBody;

static const Shape auth_shape = SHAPE_FIELDS(
        { "username", SHAPE_TEXT, offsetof(AuthBody, username), SHAPE_NULLABLE, .max = 1024  },
        { "password", SHAPE_TEXT, offsetof(AuthBody, password), SHAPE_NULLABLE, .max = 65536 },
        { "token",    SHAPE_TEXT, offsetof(AuthBody, token),    SHAPE_NULLABLE, .max = 65536 });

static const Shape native_template_pull_shape = SHAPE_FIELDS(
        { "image",    SHAPE_TEXT,   offsetof(PullBody, image),    SHAPE_MANDATORY, .min = 1, .max = REFERENCE_MAX },
        { "name",     SHAPE_TEXT,   offsetof(PullBody, name),     SHAPE_NULLABLE,  .min = 1, .max = REFERENCE_MAX },
        { "platform", SHAPE_TEXT,   offsetof(PullBody, platform), SHAPE_NULLABLE,  .min = 3, .max = 64 },
        { "auth",     SHAPE_OBJECT, offsetof(PullBody, auth),     SHAPE_NULLABLE,  .shape = &auth_shape });

/* Credentials in the form that cove-registry takes. NULL: none given, or out of memory. */
static char *auth_text(const AuthBody *a) {
        char *text = NULL;
        int n = -1;

        if (a->token)
                n = asprintf(&text, "bearer %s", a->token);
        else if (a->username)
                n = asprintf(&text, "%s:%s", a->username, a->password ? a->password : "");
        return n < 0 ? NULL : text;
}

static void templates_wipe(char *text) {
        if (text)
                explicit_bzero(text, strlen(text));
}

static void auth_wipe(const AuthBody *a) {
        templates_wipe(a->username);
        templates_wipe(a->password);
        templates_wipe(a->token);
}

static void native_template_pull(ApiRequest *q) {
        PullBody b = { 0 };
        Images *i = native_images(q);
        Error error = { 0 };
        Making *k = NULL;

        if (i && api_read(q, &b) >= 0) {
                char *auth = auth_text(&b.auth);
                int r = images_pull(i, &q->who, &(ImagePull) { b.image, b.name, b.platform, auth }, &k, &error);

                native_answer_making(q, k, r, &error);
                templates_wipe(auth);
                free(auth);
        }
        auth_wipe(&b.auth);
        shape_done(&native_template_pull_shape, &b);
}

typedef struct PushBody {
        char *reference;
        AuthBody auth;
} PushBody;

static const Shape native_template_push_shape = SHAPE_FIELDS(
        { "reference", SHAPE_TEXT,   offsetof(PushBody, reference), SHAPE_MANDATORY, .min = 1, .max = REFERENCE_MAX },
        { "auth",      SHAPE_OBJECT, offsetof(PushBody, auth),      SHAPE_NULLABLE, .shape = &auth_shape });

static void native_template_push(ApiRequest *q) {
        PushBody b = { 0 };
        Images *i = native_images(q);
        Error error = { 0 };
        Making *k = NULL;

        if (i && api_read(q, &b) >= 0) {
                char *auth = auth_text(&b.auth);
                int r = images_push(i, &q->who, q->parameters[0], b.reference, auth, &k, &error);

                native_answer_making(q, k, r, &error);
                templates_wipe(auth);
                free(auth);
        }
        auth_wipe(&b.auth);
        shape_done(&native_template_push_shape, &b);
}

/* Import. */

static void import_begin(ApiRequest *q, Spool *body) {
        Error error = { 0 };
        Making *k = NULL;
        int r = images_import(q->api->rooms.images, &q->who, http_query(q->http, "name"), body, &k, &error);

        native_answer_making(q, k, r, &error);
}

static void native_template_import(ApiRequest *q) {
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
                (void) native_complain(q, "name", "is required: the template's name");
        else
                spool_begin(q, q->manager->settings->images.image_bytes_max, import_begin);
}

/* Commit. */

typedef struct CommitBody {
        char *template_name;
} CommitBody;

static const Shape native_commit_shape = SHAPE_FIELDS(
        { "template", SHAPE_TEXT, offsetof(CommitBody, template_name), SHAPE_MANDATORY, .min = 1, .max = REFERENCE_MAX });

static void native_sandbox_commit(ApiRequest *q) {
        CommitBody b = { 0 };
        Images *i = native_images(q);
        Error error = { 0 };
        Making *k = NULL;

        if (i && api_read(q, &b) >= 0) {
                int r = images_commit(i, &q->who, q->sandbox, b.template_name, &k, &error);

                native_answer_making(q, k, r, &error);
        }
        free(b.template_name);
}

#define TEMPLATE "/api/templates/{name}"

const ApiRoute template_routes[] = {
        { "GET",    "/api/templates",           MAY_SEE,    .handle = native_template_list, ANSWER_LIST(template), .queries = QUERIES("tenant", "limit", "cursor") },
        { "POST",   "/api/templates/pull",      MAY_MANAGE, .handle = native_template_pull, JSON_BODY(template_pull), ANSWER(making) },
        { "POST",   "/api/templates/import",    MAY_MANAGE, .handle = native_template_import, BYTES_BODY(native_spool_data), ANSWER(making),
          .queries = QUERIES("name") },
        { "GET",    TEMPLATE,                   MAY_SEE,    .handle = native_template_get, ANSWER(template_details), .queries = QUERIES("tenant") },
        { "DELETE", TEMPLATE,                   MAY_MANAGE, .handle = native_template_delete, ANSWER(deleted_name), .queries = QUERIES("tenant") },
        { "POST",   TEMPLATE "/push",           MAY_MANAGE, .handle = native_template_push, JSON_BODY(template_push), ANSWER(making) },
        { "POST",   "/api/sandbox/{id}/commit", MAY_MANAGE, .handle = native_sandbox_commit, JSON_BODY(commit), ANSWER(making) },
        { 0 },
};
