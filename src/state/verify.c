/* verify.c: reads every byte of a snapshot. The file system has a checksum of each block, and returns EIO for a
 * wrong one. */

#include <stdlib.h>
#include <string.h>

#include "json/json.h"
#include "state/internal.h"

typedef struct VerifyCheck {
        Work work;
        char id[SNAPSHOT_ID_LENGTH + 1];
        SnapshotContent content;
        SnapshotVerified done;
} VerifyCheck;

static void read_result(const char *line, SnapshotContent *ret) {
        _cleanup_json_ json_t *j = line ? json_loads(line, 0, NULL) : NULL;
        const json_t *result = json_object_get(j, "result");

        ret->entries = (uint64_t) json_integer_value(json_object_get(result, "entries"));
        ret->bytes = (uint64_t) json_integer_value(json_object_get(result, "bytes"));
}

static int verify_look(void *object, Error *reterr) {
        VerifyCheck *c = object;
        TreeRef ref = tree_ref(TREE_SNAPSHOT, c->id);

        return work_ask(&c->work, TREE_VERIFY, &ref, NULL, /* bytes= */ 0, reterr);
}

static void verify_on_read(const char *result, const Error *error, void *userdata) {
        VerifyCheck *c = userdata;

        c->work.call = NULL;
        if (!error)
                read_result(result, &c->content);
        sequence_heard(&c->work.run, error);
}

static int verify_read(void *object, Error *reterr) {
        static const TreeRunEvents events = { .done = verify_on_read };
        static const char *const arguments[] = { "pack", "--compress", "none", NULL };
        VerifyCheck *c = object;
        TreeRef ref = tree_ref(TREE_SNAPSHOT, c->id);
        int r = trees_run(c->work.state->manager, &ref, 1, arguments, /* in_fd= */ -EBADF, /* out_fd= */ -EBADF, &events, c, &c->work.call, reterr);

        return r < 0 ? r : STEP_WAITS;
}

static void verify_end(void *object, const Error *error) {
        static const Error removed = { -ENOENT, "the snapshot was removed while it was read" };
        VerifyCheck *c = object;
        Snapshot *n = (Snapshot *) held_by_id(&c->work.state->snapshots, c->id);

        if (!c->work.forgotten)
                c->done(n, &c->content, error || n ? error : &removed, c->work.userdata);
        work_end(&c->work);
}

static const SequenceStep verify_steps[] = {
        { "look", verify_look },
        { "read", verify_read },
};
static const Sequence verify_sequence = SEQUENCE("verify", verify_steps, verify_end);

int snapshot_verify(State *s, Snapshot *snapshot, SnapshotVerified done, void *userdata, Error *reterr) {
        VerifyCheck *c = calloc(1, sizeof(*c));

        if (!c)
                return error_set(reterr, -ENOMEM, "out of memory");
        memcpy(c->id, snapshot->tree.id, sizeof(c->id));
        c->done = done;
        work_begin(&c->work, s, userdata, work_free_plain);
        return work_start(&c->work, &verify_sequence, reterr);
}
