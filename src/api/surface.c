#include "api/surface.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/account.h"
#include "api/cors.h"
#include "api/router.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "observe/audit.h"

#define JSON_TYPE "application/json"

/* Answers. */

int api_hold(ApiRequest *q, size_t bytes, Error *reterr) {
        int r = ledger_reserve(q->manager, &q->answer, q->who.tenant, LEDGER_ANSWER, bytes, reterr);

        return r < 0 ? -ENOBUFS : 0; /* what is held already stays charged */
}

int api_answer(ApiRequest *q, unsigned status, json_t *body) {
        size_t size = 0;
        char *text = json_print(body, &size);

        json_decref(body);
        q->answered = true;
        if (!text) {
                static const char oom[] = "{\"error\":{\"code\":\"internal\",\"message\":\"out of memory\"}}\n";

                return http_answer(q->http, 500, JSON_TYPE, oom, sizeof(oom) - 1);
        }
        return http_answer_take(q->http, status, JSON_TYPE, text, size);
}

int api_show(ApiRequest *q, unsigned status, const void *object) {
        return api_answer(q, status, shape_show(q->route->answer, object));
}

/* Takes the list of complaints, which may be NULL. */
static int surface_answer_error(
                ApiRequest *q, unsigned status, const char *code, const char *message, const char *hint, json_t *list) {
        json_t *error;

        if (q->route && q->route->refuse) {
                json_decref(list);
                return q->route->refuse(q, status, message);
        }
        error = json_object();
        (void) json_object_set_new(error, "code", json_string(code));
        (void) json_object_set_new(error, "message", json_text_or_null(message));
        if (hint)
                (void) json_object_set_new(error, "hint", json_text_or_null(hint));
        if (list)
                (void) json_object_set_new(error, "errors", list);
        return api_answer(q, status, json_pack("{s:o}", "error", error));
}

int api_error(ApiRequest *q, unsigned status, const char *code, const char *hint, const char *format, ...) {
        _cleanup_free_ char *message = NULL;
        va_list ap;

        va_start(ap, format);
        message = string_vformat(format, ap);
        va_end(ap);
        return surface_answer_error(q, status, code, message ? message : "out of memory", hint, NULL);
}

int api_error_list(ApiRequest *q, unsigned status, const char *code, const char *message, json_t *list) {
        return surface_answer_error(q, status, code, message, /* hint= */ NULL, list);
}

int api_complaints(ApiRequest *q, const JsonComplaints *c) {
        size_t n = json_array_size(c->list);
        json_t *first = json_array_get(c->list, 0);
        char message[512];

        (void) snprintf(message, sizeof(message), "%s: %s%s", json_string_value(json_object_get(first, "field")),
                        json_string_value(json_object_get(first, "message")), n > 1 ? " (and more, see errors)" : "");
        return surface_answer_error(q, 400, "invalid", message, NULL, json_incref(c->list));
}

static const struct {
        int error;
        unsigned status;
        const char *code;
        const char *message; /* if the caller gives none */
} errors[] = {
        { ENOENT,       404, "not_found",       "no such object"                  },
        { ESRCH,        404, "not_found",       "no such object"                  },
        { ENOTUNIQ,     409, "ambiguous",       "it is ambiguous: give more characters"   },
        { EEXIST,       409, "exists",          "it already exists"                     },
        { ESTALE,       409, "not_running",     "the sandbox is not running"              },
        { ECHILD,       409, "not_running",     "the sandbox is not running"              },
        { EBUSY,        409, "conflict",        "it is in use"                            },
        { EALREADY,     409, "conflict",        "it is already in progress"                 },
        { ECANCELED,    409, "conflict",        "another request came first"               },
        { ENOTDIR,      409, "not_a_directory", "it is not a directory"                   },
        { EISDIR,       409, "is_a_directory",  "it is a directory"                       },
        { ENOTEMPTY,    409, "not_empty",       "the directory is not empty"              },
        { ENOTTY,       409, "not_a_terminal",  "it has no terminal"                      },
        { EPIPE,        409, "stdin_closed",    "its reader is gone"                         },
        { EACCES,       403, "permission",      "permission denied"                       },
        { EPERM,        403, "permission",      "permission denied"                       },
        { EROFS,        403, "permission",      "the file system cannot be written to"    },
        { EKEYREJECTED, 403, "beyond_policy",   "the sandbox's policy does not allow it"  },
        { ENOEXEC,      403, "language_not_allowed", "the sandbox's policy does not allow the language" },
        { EINVAL,       400, "invalid",         "the request is not valid"    },
        { ERANGE,       400, "invalid",         "a value is out of range"                 },
        { ENAMETOOLONG, 400, "name_too_long",   "the name is too long"                    },
        { ELOOP,        400, "invalid",         "too many symbolic links"                 },
        { EILSEQ,       400, "invalid",         "not UTF-8, or a NUL byte"                },
        { E2BIG,        400, "invalid",         "the request is too large"                   },
        { EBADMSG,      400, "bad_json",        "the body is not JSON"                    },
        { ENODATA,      410, "gone",            "it was removed to make room"             },
        { ENOKEY,       422, "secret_missing",  "a secret does not exist"                 },
        { EKEYREVOKED,  503, "vault_shut",      "secrets cannot be read for now"          },
        { EFBIG,        413, "too_large",       "it is too large"                         },
        { EMSGSIZE,     413, "too_large",       "it is too large"                         },
        { EOVERFLOW,    403, "quota",           "more than the quota will ever allow"     },
        { EDQUOT,       429, "quota",           "over quota"                              },
        { EOPNOTSUPP,   501, "unsupported",     "this cannot be done here"                },
        { ENOSYS,       501, "unsupported",     "this cannot be done here"                },
        { EAGAIN,       503, "unavailable",     "temporarily unavailable: try again"                  },
        { ECONNREFUSED, 503, "unavailable",     "temporarily unavailable: try again"                  },
        { ECONNRESET,   503, "unavailable",     "temporarily unavailable: try again"                  },
        { ETIMEDOUT,    503, "unavailable",     "it took too long"                        },
        { EMFILE,       503, "unavailable",     "the daemon has too many open files: try again later, or raise its limit (LimitNOFILE=, ulimit -n)" },
        { ENFILE,       503, "unavailable",     "this machine has too many open files: try again later, or raise fs.file-max" },
        { ENOBUFS,      503, "unavailable",     "temporarily unavailable: try again"                  },
        { EUSERS,       503, "unavailable",     "this machine has no room for more sandboxes: end some"  },
        { ENOSPC,       507, "no_space",        "there is no space left"                  },
        { ENOMEM,       503, "unavailable",     "out of memory: try again later"          },
};

/* What the caller can do to make the sandbox ready; NULL: nothing. The caller frees it. */
static char *surface_cure(const ApiRequest *q, int r) {
        const Sandbox *sb = r == -ESTALE ? q->sandbox : NULL;
        const char *verb = !sb ? NULL : sb->status == SANDBOX_PAUSED ? "resume" : sb->status == SANDBOX_STOPPED ? "start" : NULL;
        const char *name = verb && sb->spec.name ? sb->spec.name : verb ? sb->id : NULL;
        char *cure = NULL;

        return verb && asprintf(&cure, "%s it with `cove %s %s`, or POST /api/sandbox/%s/%s", verb, verb, name, name, verb) >= 0 ? cure : NULL;
}

int api_errno(ApiRequest *q, int r, const char *text) {
        _cleanup_free_ char *cure = surface_cure(q, r);
        const char *words = text && *text ? text : NULL;

        for (size_t i = 0; i < ELEMENTSOF(errors); i++)
                if (errors[i].error == -r)
                        return api_error(q, errors[i].status, errors[i].code, cure, "%s", words ? words : errors[i].message);
        log_error("%s %s: %s", http_method(q->http), http_path(q->http), words ? words : strerror(-r));
        return api_error(q, 500, "internal", NULL, "%s", words ? words : strerror(-r));
}

unsigned api_errno_status(int r, const char **ret_message) {
        for (size_t i = 0; i < ELEMENTSOF(errors); i++)
                if (errors[i].error == -r) {
                        *ret_message = errors[i].message;
                        return errors[i].status;
                }
        *ret_message = strerror(-r);
        return 500;
}

/* The body and parameters of the request. */

int api_read_checked(ApiRequest *q, void *target, ApiCheck check) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        Error error = { 0 };
        size_t size;
        const char *text = http_body(q->http, &size);
        int r = json_read(text, size, q->route->shape, target, &c, &error);

        if (r >= 0 && check)
                r = check(q, target, &c);
        if (r < 0) {
                (void) api_errno(q, r, error.text);
                return r;
        }
        if (json_has_complaints(&c)) {
                (void) api_complaints(q, &c);
                return -EINVAL;
        }
        return 0;
}

int api_read(ApiRequest *q, void *target) {
        return api_read_checked(q, target, NULL);
}

static int refuse_query(ApiRequest *q, const char *name, const char *format, ...) _printf_(3, 4);
static int refuse_query(ApiRequest *q, const char *name, const char *format, ...) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        char message[256];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(message, sizeof(message), format, ap);
        va_end(ap);
        if (json_complain(&c, name, "%s", message) < 0)
                (void) api_errno(q, -ENOMEM, NULL);
        else
                (void) api_complaints(q, &c);
        return -EINVAL;
}

int api_query_uint(ApiRequest *q, const char *name, uint64_t min, uint64_t max, uint64_t *ret) {
        const char *text = http_query(q->http, name);

        if (!text)
                return 0;
        if (parse_uint64(text, min, max, ret) < 0)
                return refuse_query(q, name, "'%.60s' is not a number from %llu to %llu", text, (unsigned long long) min,
                                (unsigned long long) max);
        return 1;
}

int api_query_bool(ApiRequest *q, const char *name, bool *ret) {
        static const char *const words[][2] = { { "false", "true" }, { "0", "1" }, { "no", "yes" } };
        const char *text = http_query(q->http, name);

        if (!text)
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                for (size_t k = 0; k < 2; k++)
                        if (strcmp(text, words[i][k]) == 0 || (k == 1 && *text == '\0')) {
                                *ret = k == 1;
                                return 1;
                        }
        return refuse_query(q, name, "'%.60s' is neither true nor false", text);
}

/* Who is asking. */

static const char *bearer_of(const char *header) {
        static const char scheme[] = "Bearer ";

        if (!header || strncasecmp(header, scheme, strlen(scheme)) != 0)
                return NULL;
        header += strlen(scheme);
        return header + strspn(header, " ");
}

static void keep_texts(ApiRequest *q) {
        if (q->who.tenant) {
                (void) snprintf(q->tenant, sizeof(q->tenant), "%s", q->who.tenant);
                q->who.tenant = q->tenant;
        }
        if (q->who.profile) {
                (void) snprintf(q->profile, sizeof(q->profile), "%s", q->who.profile);
                q->who.profile = q->profile;
        }
        if (q->who.key_id) {
                (void) snprintf(q->key_id, sizeof(q->key_id), "%s", q->who.key_id);
                q->who.key_id = q->key_id;
        }
}

/* Returns 1 if the caller is known, else 0. A wrong secret is refused even if the socket alone would have
 * sufficed. */
int api_authenticate(ApiRequest *q) {
        const char *secret = http_header(q->http, "X-API-KEY"); /* first: Authorization may be for a program inside */
        uid_t uid;
        int r;

        if (!secret)
                secret = bearer_of(http_header(q->http, "Authorization"));
        if (secret) {
                q->gave_secret = true;
                r = access_check(q->manager->access, secret, &q->who);
                if (r > 0) {
                        keep_texts(q);
                        q->has_proved = true;
                        (void) snprintf(q->actor, sizeof(q->actor), "%s", q->who.key_id ? q->who.key_id : "admin");
                }
                return r;
        }
        if (http_peer_is_unix(q->http, &uid) && (uid == 0 || uid == q->api->owner || uid == q->api->self)) {
                q->who = (Principal) { .kind = PRINCIPAL_ADMIN };
                q->has_proved = true;
                (void) snprintf(q->actor, sizeof(q->actor), "uid:%u", uid);
                return 1;
        }
        return 0;
}

void api_become(ApiRequest *q, PrincipalKind kind, const char *tenant, const char *sandbox) {
        (void) snprintf(q->tenant, sizeof(q->tenant), "%s", tenant ? tenant : "");
        (void) snprintf(q->only, sizeof(q->only), "%s", sandbox);
        q->who = (Principal) { .kind = kind, .tenant = q->tenant[0] ? q->tenant : NULL, .sandbox = q->only };
}

static void refuse_stranger(ApiRequest *q) {
        static const char hint[] = "send 'Authorization: Bearer KEY' or 'X-API-KEY: KEY'; "
                                   "the admin's key is in admin.token of the state directory";
        bool gave_one = http_header(q->http, "Authorization") || http_header(q->http, "X-API-KEY");

        (void) http_add_header(q->http, "WWW-Authenticate", "Bearer realm=\"cove\"");
        (void) api_error(q, 401, "unauthorized", hint, "%s", gave_one ? "the key is not valid" : "a key is required");
}

/* What a request may contain. */

static bool is_allowed_query(const ApiRoute *route, const char *name) {
        for (const char *const *p = route->queries; p && *p; p++) {
                size_t n = strlen(*p);
                bool prefix = (*p)[n - 1] == '.';

                if (prefix ? strncmp(name, *p, n) == 0 && name[n] : strcmp(name, *p) == 0)
                        return true;
        }
        return false;
}

typedef struct QueryCheck {
        const ApiRequest *request;
        JsonComplaints complaints;
} QueryCheck;

static int check_query(const char *name, const char *value, void *userdata) {
        QueryCheck *check = userdata;

        if (is_allowed_query(check->request->route, name))
                return 0;
        return json_complain(&check->complaints, name, "unknown query parameter");
}

static int check_queries(ApiRequest *q) {
        QueryCheck check = { .request = q };
        int r = q->route->refuse ? 0 : http_query_each(q->http, check_query, &check);

        if (r < 0)
                (void) api_errno(q, r, NULL);
        else if (json_has_complaints(&check.complaints)) {
                (void) api_complaints(q, &check.complaints);
                r = -EINVAL;
        }
        json_complaints_done(&check.complaints);
        return r;
}

static bool surface_is_open(const ApiRequest *q) {
        return q->route && (q->route->needs == MAY_PING || (q->route->opened && q->route->opened(q->manager)));
}

static int check_rights(ApiRequest *q) {
        if (!surface_is_open(q) && !principal_may(&q->who, q->route->needs)) {
                q->over_scope = true;
                if (q->route->needs == MAY_OVERSEE && q->who.tenant)
                        (void) api_error(q, 403, "forbidden", "use a key that belongs to no tenant; GET /api/sandbox/stats and GET /api/cost have the tenant's own",
                                        "this covers all tenants, and the key belongs to tenant '%s'", q->who.tenant);
                else
                        (void) api_error(q, 403, "forbidden", NULL, "the key has scope '%s', this requires '%s'", principal_kind_name(q->who.kind),
                                        scope_name(capability_scope(q->route->needs)));
                return -EPERM;
        }
        if (q->manager->recovering && !q->route->while_recovering) {
                (void) http_add_header(q->http, "Retry-After", "1");
                (void) api_error(q, 503, "recovering", "try again in a second",
                                "the daemon has just started and looks for its sandboxes");
                return -EAGAIN;
        }
        if (q->api->rooms.audit && capability_scope(q->route->needs) > SCOPE_READ && !audit_accepts(q->api->rooms.audit)) {
                (void) http_add_header(q->http, "Retry-After", "5");
                (void) api_error(q, 503, "audit_unavailable", "free space on the disk of the state directory",
                                "the audit log cannot be written, and audit.required is set");
                return -EAGAIN;
        }
        return 0;
}

void api_about(ApiRequest *q, Sandbox *sb, const Execution *x) {
        sandbox_ref_set(&q->about, sb);
        memcpy(q->sandbox_id, sb->id, sizeof(q->sandbox_id));
        if (x)
                memcpy(q->execution_id, x->id, sizeof(q->execution_id));
}

static void surface_caller_destroy(ApiRequest *q, bool answered) {
        sandbox_forget_caller(q->state, q);
        q->state = sandbox_unref(q->state);
}

void api_keep_caller(ApiRequest *q, Sandbox *sb) {
        q->state = sandbox_ref(sb);
        q->destroy = surface_caller_destroy;
}

/* Finds the objects of the request. Called just before the handler, because an object may be removed while a
 * body is received. */
static int find_objects(ApiRequest *q) {
        int id = router_parameter_place(q->route, "id"), eid = router_parameter_place(q->route, "eid");
        Error error = { 0 };
        int r;

        if (strncmp(q->route->path, "/api/sandbox/", strlen("/api/sandbox/")) != 0 || id < 0)
                return 0;
        r = manager_resolve(q->manager, &q->who, q->parameters[id], &q->sandbox, &error);
        if (r < 0) {
                (void) api_errno(q, r, error.text);
                return r;
        }
        api_about(q, q->sandbox, NULL);
        q->execution = eid < 0 ? NULL : manager_find_execution(q->sandbox, q->parameters[eid]);
        if (eid >= 0 && !q->execution) {
                (void) api_error(q, 404, "not_found", NULL, "sandbox '%s' has no execution '%s'", q->parameters[id],
                                q->parameters[eid]);
                return -ENOENT;
        }
        if (q->execution)
                api_about(q, q->sandbox, q->execution);
        return 0;
}

/* The life of a request, as reported by the server. */

static void handle(ApiRequest *q) {
        if (find_objects(q) < 0)
                return;
        if (q->route->shape && q->route->shape->n_fields == 0 && api_read(q, NULL) < 0)
                return; /* the route takes no fields, so the body must be empty */
        q->route->handle(q);
}

static void surface_on_handle(HttpRequest *r, void *userdata) {
        ApiRequest *q = userdata;
        int k;

        q->waits = true; /* set first: prepare() may finish before it returns */
        k = q->prepare ? q->prepare(q) : 0;
        if (k == 0) {
                q->waits = false;
                handle(q);
        }
}

void api_proceed(ApiRequest *q) {
        q->waits = false;
        handle(q);
        if (q->body_ended && !q->answered)
                (void) q->route->data(q, NULL, 0);
        http_request_continue(q->http);
}

static ssize_t surface_on_body(HttpRequest *r, const void *data, size_t size, void *userdata) {
        ApiRequest *q = userdata;

        if (q->answered)
                return -ECANCELED;
        if (q->waits) {
                q->body_ended = size == 0;
                return 0;
        }
        return q->route->data(q, data, size);
}

static bool surface_on_hold(HttpRequest *r, size_t size, void *userdata) {
        ApiRequest *q = userdata;
        Error error = { 0 };

        if (api_hold(q, size, &error) >= 0)
                return true;
        (void) http_add_header(q->http, "Retry-After", "5");
        (void) api_errno(q, -ENOBUFS, error.text);
        return false;
}

static void on_answering(HttpRequest *r, unsigned status, void *userdata) {
        account_call(userdata, status);
}

static void surface_on_closed(HttpRequest *r, bool answered, void *userdata) {
        ApiRequest *q = userdata;

        account_call(q, 0);
        if (q->stop_waiting)
                q->stop_waiting(q);
        api_let_go(q, answered);
        ledger_release(&q->answer);
        ledger_release(&q->place);
        for (size_t i = 0; i < ELEMENTSOF(q->parameters); i++)
                free(q->parameters[i]);
        (void) sandbox_unref(q->about);
        free(q);
}

static void refuse_path(ApiRequest *q, int r, const RouterMatch *m) {
        const char *method = http_method(q->http), *path = http_path(q->http);

        if (r == -EPERM) {
                (void) http_add_header(q->http, "Allow", m->allow);
                (void) api_error(q, 405, "method_not_allowed", "the routes: GET /api/openapi.json", "'%s' does not apply to '%s'; these do: %s", method,
                                path, m->allow);
        } else if (r == -EOPNOTSUPP)
                (void) api_error(q, 501, "unsupported", NULL, "unknown method '%s'", method);
        else if (r == -EILSEQ)
                (void) api_error(q, 400, "invalid", NULL,
                                "the path '%s' has a bad percent-encoding, a NUL byte, or is not UTF-8", path);
        else if (r == -ENOENT)
                (void) api_error(q, 404, "not_found", "the routes: GET /api/openapi.json", "there is no '%s'", path);
        else
                (void) api_errno(q, r, NULL);
}

/* Returns 1 if a surface has claimed the request, 0 if none has, negative if it was answered. */
static int surface_claim(ApiRequest *q) {
        for (const ApiSurface *const *s = q->api->surfaces; *s; s++) {
                ApiTarget target = { 0 };
                int r = (*s)->claims ? (*s)->claims(q, &target) : 0;

                if (r > 0 && !((*s)->passes_on && (*s)->passes_on(&target)) && cors_admit(q) < 0)
                        return -ECANCELED;
                if (r > 0)
                        r = (*s)->admit(q, &target);
                if (r < 0 || q->route)
                        return r < 0 ? r : 1;
        }
        return 0;
}

/* Strangers learn nothing, not even which paths exist. */
static int admit(ApiRequest *q) {
        RouterMatch m;
        int r, known;

        r = surface_claim(q);
        if (r != 0)
                return r < 0 ? r : check_rights(q);
        r = cors_admit(q);
        if (r < 0)
                return r;
        r = router_find(q->api->tables, http_method(q->http), http_path(q->http), &m);
        if (r >= 0 && m.route->served && !m.route->served(q->manager)) {
                router_match_done(&m);
                r = -ENOENT;
        }

        q->route = m.route;
        memcpy(q->parameters, m.parameters, sizeof(q->parameters));
        if (r >= 0 && q->route->identify) { /* else the route has no parameters, and serves only to choose the form of the answer */
                known = q->route->identify(q);
                if (known < 0)
                        return known;
        } else if (!surface_is_open(q) && api_authenticate(q) <= 0) {
                refuse_stranger(q);
                return -EACCES;
        }
        if (r < 0) {
                refuse_path(q, r, &m);
                return r;
        }
        if (!surface_is_open(q) || !q->route->while_recovering) {
                r = check_rights(q);
                if (r < 0)
                        return r;
        }
        return check_queries(q);
}

/* Counted for the caller's tenant or, if a stranger visits an open preview, for the sandbox's tenant. */
static int take_place(ApiRequest *q) {
        const char *tenant = q->who.tenant && *q->who.tenant ? q->who.tenant : !q->has_proved && q->about ? q->about->spec.tenant : NULL;
        Error error = { 0 };
        int r = ledger_reserve(q->manager, &q->place, tenant, LEDGER_REQUESTS, 1, &error);

        if (r < 0) {
                (void) http_add_header(q->http, "Retry-After", "1");
                (void) api_errno(q, r, error.text);
        }
        return r;
}

void api_route(HttpRequest *r, HttpPlan *plan, void *userdata) {
        const Api *api = userdata;
        ApiRequest *q = calloc(1, sizeof(*q));

        if (!q)
                return; /* the server answers 500 */
        q->http = r;
        q->api = api;
        q->manager = api->manager;
        q->began = clock_usec();
        *plan = (HttpPlan) { .hold = surface_on_hold, .answering = on_answering, .closed = surface_on_closed, .userdata = q };
        if (admit(q) < 0 || take_place(q) < 0)
                return;
        plan->mode = q->route->body;
        plan->body_max = q->route->body_max;
        plan->handle = surface_on_handle;
        plan->body = q->route->data ? surface_on_body : NULL;
        plan->known = q->has_proved;
}
