/* changes.c: the changes of a persistent sandbox against its base: as lines of JSON, or as a layer.
 *
 *      disk, template ── cove-tree (started by the spawner) ── pipe ── answer
 *
 * If the client leaves, the work ends.
 *
 * The client sets the pace, and only a limited number of programs work on trees at once (spawner/spawner.h).
 * So some of them are reserved for other uses, and no tenant may take all of the rest. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "api/native/routes/routes.h"
#include "api/native/values.h"
#include "api/pipe.h"
#include "base/fd.h"
#include "base/path.h"
#include "core/trees.h"

#define ARGUMENTS_MAX 64
#define AT_ONCE_MAX   6 /* fewer than TREE_RUNS_MAX */
#define TENANT_MAX    3
#define PATHS_MAX     ((ARGUMENTS_MAX - 4) / 2)

typedef struct NativeChanges {
        ApiRequest *q;
        char *tenant; /* of the sandbox */
        TreeCall *call; /* NULL: it has ended */
        const char *type;
        ApiPipe pipe;
        const char *arguments[ARGUMENTS_MAX];
        size_t n_arguments;
        struct NativeChanges *prev, *next;
} NativeChanges;

static NativeChanges *under_way;

static void changes_destroy(ApiRequest *q, bool answered) {
        NativeChanges *c = q->state;

        if (c->call) {
                tree_call_cancel(c->call);
                tree_call_forget(c->call);
        }
        api_pipe_done(&c->pipe);
        DL_DELETE(under_way, c);
        free(c->tenant);
        free(c);
        q->state = NULL;
}

static void native_changes_on_done(const char *result, const Error *error, void *userdata) {
        NativeChanges *c = userdata;

        c->call = NULL;
        if (!api_pipe_ended(&c->pipe, error ? error->code : 0))
                (void) api_errno(c->q, error->code, error->text);
}

static int native_changes_add_path(const char *name, const char *value, void *userdata) {
        NativeChanges *c = userdata;
        _cleanup_free_ char *clean = NULL;
        int r;

        if (strcmp(name, "path") != 0)
                return 0;
        if (c->n_arguments + 3 > ARGUMENTS_MAX)
                return -E2BIG;
        r = path_normalize(value, &clean);
        if (r < 0)
                return r;
        c->arguments[c->n_arguments++] = "--path";
        c->arguments[c->n_arguments++] = value;
        return 0;
}

/* The base: a layer, or a template that the spawner was started with. */
static int native_changes_start(NativeChanges *c, const Sandbox *sb, Error *reterr) {
        static const TreeRunEvents events = { .done = native_changes_on_done };
        const TreeRef refs[] = {
                tree_ref(TREE_DISK, sb->id),
                sb->spec.layer ? tree_ref(TREE_LAYER, sb->spec.layer) : tree_ref(TREE_TEMPLATE, sandbox_spec_base(&sb->spec)),
        };
        _cleanup_close_ int theirs = -EBADF;
        int r = api_pipe_open(&c->pipe, c->q, c->type, &theirs);

        if (r < 0)
                return error_set(reterr, r, "cannot make a pipe: %m");
        return trees_run(c->q->manager, refs, ELEMENTSOF(refs), c->arguments, -EBADF, theirs, &events, c, &c->call, reterr);
}

static bool is_too_much(const char *tenant) {
        const NativeChanges *c;
        unsigned n = 0, own = 0;

        DL_FOREACH(under_way, c) {
                n++;
                own += strcmp(c->tenant, tenant) == 0;
        }
        return n >= AT_ONCE_MAX || own >= TENANT_MAX;
}

static NativeChanges *native_changes_begin(ApiRequest *q, const char *verb, const char *type) {
        const char *tenant = q->sandbox->spec.tenant ? q->sandbox->spec.tenant : "";
        NativeChanges *c;

        if (!q->sandbox->spec.persistent) {
                (void) api_error(q, 409, "not_persistent", "create it with \"persistent\": true (cove create --persistent)",
                                "sandbox '%s' keeps what it writes in memory: there is nothing to compare", q->sandbox->id);
                return NULL;
        }
        if (is_too_much(tenant)) {
                (void) api_error(q, 429, "busy", "read the others to their end, or close them",
                                "too many comparisons are in progress");
                return NULL;
        }
        c = calloc(1, sizeof(NativeChanges));
        if (c)
                c->tenant = strdup(tenant);
        if (!c || !c->tenant) {
                free(c);
                (void) api_errno(q, -ENOMEM, NULL);
                return NULL;
        }
        DL_APPEND(under_way, c);
        c->q = q;
        c->pipe = API_PIPE_EMPTY;
        c->type = type;
        c->arguments[c->n_arguments++] = verb;
        q->state = c;
        q->destroy = changes_destroy;
        return c;
}

static void native_changes_run(NativeChanges *c) {
        ApiRequest *q = c->q;
        Error error = { 0 };
        int r = http_query_each(q->http, native_changes_add_path, c);

        if (r == -E2BIG)
                (void) api_error(q, 400, "invalid", NULL, "more than %d paths", PATHS_MAX);
        else if (r < 0)
                (void) native_complain(q, "path", "must be an absolute path without '..'");
        if (r < 0)
                return;
        r = native_changes_start(c, q->sandbox, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
}

static void native_changes(ApiRequest *q) {
        bool patch = false;
        NativeChanges *c;

        if (api_query_bool(q, "patch", &patch) < 0)
                return;
        c = native_changes_begin(q, "changes", "application/x-ndjson");
        if (!c)
                return;
        if (patch)
                c->arguments[c->n_arguments++] = "--patch";
        native_changes_run(c);
}

static void native_changes_tar(ApiRequest *q) {
        NativeChanges *c = native_changes_begin(q, "export", "application/x-tar");

        if (c)
                native_changes_run(c);
}

const ApiRoute change_routes[] = {
        { "GET", "/api/sandbox/{id}/changes",     MAY_READ, .handle = native_changes, .queries = QUERIES("patch", "path") },
        { "GET", "/api/sandbox/{id}/changes.tar", MAY_READ, .handle = native_changes_tar, .queries = QUERIES("path") },
        { 0 },
};
