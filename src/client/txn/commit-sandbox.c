#include "client/txn/commit-sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "client/files/copy.h"
#include "client/files/layer.h"
#include "client/human.h"
#include "client/template/making.h"
#include "client/verbs.h"

typedef struct CommitSandboxFetch {
        const Place *place;
        const char *sandbox;
        char *from; /* absolute, inside */
        usec_t since;
} CommitSandboxFetch;

static int ask_sandbox(CommitSandboxFetch *f, const char *from) {
        _cleanup_answer_ Answer a = { 0 };
        const char *created;
        int r = client_need_path(f->place, /* body= */ NULL, &a, "/api/sandbox/%s", f->sandbox);

        if (r < 0)
                return r;
        created = json_get_text(a.json, "created_at");
        if (!created || human_parse_time(created, &f->since) < 0)
                return log_failure(-EBADMSG, "the daemon does not say when sandbox '%s' was made", f->sandbox);
        r = path_normalize(from ? from : json_get_text_or(a.json, "workdir", "/workspace"), &f->from);
        if (r < 0)
                log_error("'%s' is no absolute path inside the sandbox", from ? from : "its working directory");
        return r;
}

/* Unpacks the archive into an upper layer over the directory, as a guest would have left it, and applies it
 * by the same rules. */
static int commit_sandbox_apply(CommitVerb *v, CommitSandboxFetch *f, Txn *t, const Strv *paths, CommitResult *ret, Error *reterr) {
        CommitOptions o = commit_options_of(v, paths);
        _cleanup_close_ int dir = txn_open_dir(t, reterr), upper = dir < 0 ? -EBADF : txn_open_upper(t, reterr), part = -EBADF;
        _cleanup_url_ Url u = url_of("/api/sandbox/%s/changes.tar?path=%s", f->sandbox, f->from);
        int r = dir < 0 ? dir : upper < 0 ? upper : 0;

        if (r >= 0 && copy_unpack(f->place, &u, upper, f->sandbox, /* progress= */ NULL) < 0)
                return 1; /* has been reported */
        if (r >= 0)
                r = layer_to_upper(upper, reterr);
        if (r < 0)
                return r;
        part = layer_open_part(upper, f->from);
        if (part == -ENOENT)
                return 0; /* nothing was changed there */
        if (part < 0)
                return error_set(reterr, part, "'%s' is no directory in the sandbox", f->from);
        r = layer_adopt_modes(dir, part, reterr);
        t->since_nsec = (uint64_t) f->since * 1000;
        return r < 0 ? r : commit_run(t, dir, part, &o, ret, reterr);
}

static int commit_to_directory(CommitVerb *v, const Place *place, const Operands *words) {
        CommitSandboxFetch f = { .place = place, .sandbox = words->items[0] };
        _cleanup_txn_ Txn t = TXN_EMPTY;
        Strv paths = STRV_INIT(COMMIT_PATHS_MAX);
        CommitResult result = { 0 };
        Error error = { 0 };
        int status = EXIT_OWN_FAILURE, r;

        if (ask_sandbox(&f, v->from) >= 0) {
                r = txn_create(v->to, geteuid(), getegid(), &t, &error);
                if (r >= 0 && txn_paths(&t, words->items + 1, words->n - 1, &paths) < 0)
                        r = 1;
                if (r == 0)
                        r = commit_sandbox_apply(v, &f, &t, &paths, &result, &error);
                if (r <= 0)
                        status = commit_tell(v, v->to, &result, /* gone= */ true, r, &error);
                if (t.fd >= 0)
                        (void) txn_remove(&t, /* reterr= */ NULL);
        }
        strv_done(&paths);
        free(f.from);
        return status;
}

static int commit_to_template(CommitVerb *v, const Place *place, const Operands *words) {
        const MakingLook look = { 0 };
        _cleanup_builder_ JsonBuilder body = { 0 };
        _cleanup_answer_ Answer a = { 0 };

        if (words->n > 1)
                return verb_refuse("unexpected argument '%s': a template is made of the whole sandbox",
                                words->items[1]);
        json_put_text(&body, "template", v->template);
        if (client_need_path(place, &body, &a, "/api/sandbox/%s/commit", words->items[0]) < 0)
                return EXIT_OWN_FAILURE;
        return making_follow(place, &a, &look, v->common.json);
}

int commit_sandbox(CommitVerb *v, const Place *place, const Operands *words) {
        if (!v->to == !v->template) {
                log_error("'%s' is not a transaction; for a sandbox, give --to DIR or --template NAME", words->items[0]);
                return EXIT_OWN_FAILURE;
        }
        return v->to ? commit_to_directory(v, place, words) : commit_to_template(v, place, words);
}
