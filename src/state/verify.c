/* verify.c: every byte of a snapshot is read. The file system has a sum of each block, and says EIO where one is wrong. */

#include <stdlib.h>
#include <string.h>

#include "json/json.h"
#include "state/internal.h"

typedef struct VerifyCheck {
        Work work;
        char id[SNAPSHOT_ID_LENGTH + 1];
        SnapshotVerified done;
} VerifyCheck;

static void free_check(Work *w) {
        free(w);
}

/* It may have been removed meanwhile. */
static void verify_finish(VerifyCheck *c, const SnapshotContent *content, const Error *error) {
        SnapshotVerified done = c->work.forgotten ? NULL : c->done;
        void *userdata = c->work.userdata;
        State *s = c->work.state;
        Error copy = error ? *error : (Error) { 0 };
        Snapshot *n;

        HASH_FIND_STR(s->snapshots, c->id, n);
        if (!error && !n)
                (void) error_set(&copy, -ENOENT, "the snapshot was removed while it was read");
        work_end(&c->work);
        if (done)
                done(n, content, copy.code < 0 ? &copy : NULL, userdata);
}

static void read_result(const char *line, SnapshotContent *ret) {
        _cleanup_json_ json_t *j = line ? json_loads(line, 0, NULL) : NULL;
        const json_t *result = json_object_get(j, "result");

        ret->entries = (uint64_t) json_integer_value(json_object_get(result, "entries"));
        ret->bytes = (uint64_t) json_integer_value(json_object_get(result, "bytes"));
}

static void verify_on_read(const char *result, const Error *error, void *userdata) {
        VerifyCheck *c = userdata;
        SnapshotContent content = { 0 };

        c->work.call = NULL;
        if (!error)
                read_result(result, &content);
        verify_finish(c, &content, error);
}

static void on_there(const TreeAnswer *answer, const Error *error, void *userdata) {
        static const TreeRunEvents events = { .done = verify_on_read };
        static const char *const arguments[] = { "pack", "--compress", "none", NULL };
        VerifyCheck *c = userdata;
        TreeRef ref = tree_ref(TREE_SNAPSHOT, c->id);
        Error failure = { 0 };

        c->work.call = NULL;
        if (error)
                verify_finish(c, NULL, error);
        else if (trees_run(c->work.state->manager, &ref, 1, arguments, /* in_fd= */ -EBADF, /* out_fd= */ -EBADF, &events, c, &c->work.call, &failure) < 0)
                verify_finish(c, NULL, &failure);
}

int snapshot_verify(State *s, Snapshot *snapshot, SnapshotVerified done, void *userdata, Error *reterr) {
        TreeRef ref = tree_ref(TREE_SNAPSHOT, snapshot->id);
        VerifyCheck *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return error_set(reterr, -ENOMEM, "out of memory");
        memcpy(c->id, snapshot->id, sizeof(c->id));
        c->done = done;
        work_begin(&c->work, s, userdata, free_check);
        r = trees_verify(s->manager, &ref, on_there, c, &c->work.call, reterr);
        if (r < 0)
                work_end(&c->work);
        return r;
}
