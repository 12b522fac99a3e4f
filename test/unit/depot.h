/* depot.h: trees as a set of names, and a store that refuses rows: what fails is what the test says. */
#pragma once

#include "world.h"

#include <limits.h>
#include <sqlite3.h>

#include "core/secret.h"
#include "image/internal.h"

#define NEVER UINT_MAX
#define DEPOT_LAYER "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" /* its row can always be written */
#define DEPOT_BLOB  "2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6" /* what a layer is packed to */

/* A depot that answers when it is told to. */

typedef enum Way { FAILS_AT_ONCE, FAILS_LATER, IS_CANCELLED, _WAY_MAX } Way;

typedef struct Asked {
        TreeRequest request;
        uint64_t token;
        int fds[4];
} Asked;

static struct {
        World *world;
        Asked queue[64];
        size_t n_queue;
        TreeRef trees[64];
        size_t n_trees;
        unsigned n;       /* asked so far, but for removals and lists */
        unsigned fail_at; /* the one that fails */
        Way way;
        int code;       /* with which it fails later */
        Making *making; /* that is cancelled then */
} depot;

static inline TreeRef *depot_find(const TreeRef *ref) {
        for (size_t i = 0; i < depot.n_trees; i++)
                if (depot.trees[i].kind == ref->kind && strcmp(depot.trees[i].name, ref->name) == 0)
                        return depot.trees + i;
        return NULL;
}

static inline void depot_add(const TreeRef *ref) {
        assert_true(depot.n_trees < ELEMENTSOF(depot.trees));
        depot.trees[depot.n_trees++] = *ref;
}

static inline void depot_remove(const TreeRef *ref) {
        TreeRef *t = depot_find(ref);

        if (t)
                *t = depot.trees[--depot.n_trees];
}

static inline unsigned depot_count(TreeKind kind) {
        unsigned n = 0;

        for (size_t i = 0; i < depot.n_trees; i++)
                n += depot.trees[i].kind == kind;
        return n;
}

static inline bool depot_is_counted(const TreeRequest *q) {
        return q->operation != TREE_REMOVE && q->operation != TREE_LIST;
}

static inline int depot_ask(Provider *p, const TreeRequest *request, const int *fds, uint64_t token) {
        Asked *a = depot.queue + depot.n_queue;

        if (depot_is_counted(request) && depot.n == depot.fail_at && depot.way == FAILS_AT_ONCE) {
                depot.n++;
                return -EIO;
        }
        assert_true(depot.n_queue < ELEMENTSOF(depot.queue));
        *a = (Asked) { .request = *request, .token = token };
        for (size_t i = 0; i < ELEMENTSOF(a->fds); i++)
                a->fds[i] = fds ? fcntl(fds[i], F_DUPFD_CLOEXEC, 3) : -EBADF;
        depot.n_queue++;
        return 0;
}

static inline int depot_cancel(Provider *p, uint64_t token) {
        return 0; /* what runs ends as it would have */
}

static const ProviderTrees depot_trees = { .ask = depot_ask, .cancel = depot_cancel };

/* What cove-tree says at its end. */
static inline void depot_run(const Asked *a) {
        static const char result[] = "{\"result\":{\"bytes\":7,\"uid\":0,\"gid\":0,\"home\":\"/root\",\"size\":3,\"digest\":\"sha256:" DEPOT_BLOB "\",\"diffId\":\"sha256:" DEPOT_BLOB "\"}}\n";

        check_int("result", write(a->fds[3], result, strlen(result)), (intmax_t) strlen(result));
}

static inline void depot_do(const Asked *a) {
        const TreeRequest *q = &a->request;

        if (q->operation == TREE_MAKE)
                depot_add(q->refs);
        else if (q->operation == TREE_REMOVE)
                depot_remove(q->refs);
        else if (q->operation == TREE_RUN)
                depot_run(a);
        else if (q->operation == TREE_PUBLISH) {
                depot_remove(q->refs);
                depot_add(q->refs + 1);
        } else
                for (size_t i = 0; q->operation == TREE_LIST && i < depot.n_trees; i++)
                        if (depot.trees[i].kind == q->refs[0].kind)
                                depot.world->fake.provider.events->tree_item(a->token, depot.trees + i, 7, depot.world->manager);
}

static inline void depot_answer(void) {
        const Error broken = { depot.code, "the disk is broken" };
        Asked a = depot.queue[0];
        bool fails = depot_is_counted(&a.request) && depot.n++ == depot.fail_at;

        memmove(depot.queue, depot.queue + 1, --depot.n_queue * sizeof(*depot.queue));
        if (fails && depot.way == IS_CANCELLED)
                making_cancel(depot.making);
        if (!fails || depot.way == IS_CANCELLED || a.request.operation == TREE_MAKE)
                depot_do(&a); /* one that fails may have begun */
        for (size_t i = 0; i < ELEMENTSOF(a.fds); i++)
                (void) fd_close(a.fds[i]);
        depot.world->fake.provider.events->tree_done(a.token, 0, 0, fails && depot.way == FAILS_LATER ? &broken : NULL, depot.world->manager);
}

/* Nothing can be written into that table from now on. */
static inline void depot_refuse_rows(World *w, const char *table) {
        char path[600], sql[300];
        sqlite3 *db = NULL;

        (void) snprintf(path, sizeof(path), "%s/cove.db", w->state);
        (void) snprintf(sql, sizeof(sql), "CREATE TRIGGER broken BEFORE INSERT ON %s %s BEGIN SELECT RAISE(ABORT, 'broken'); END", table,
                        strcmp(table, "layer") == 0 ? "WHEN NEW.chain <> '" DEPOT_LAYER "'" : "");
        world_close(w);
        check_int("open", sqlite3_open(path, &db), SQLITE_OK);
        check_int("trigger", sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        (void) sqlite3_close(db);
        world_open(w);
        world_up(w);
}

/* A world of its own with this depot. refused: a table; NULL: none. */
static inline Images *depot_open(World *w, const char *name, const char *refused) {
        static unsigned number;
        char path[64];
        Error error = { 0 };
        Images *i = NULL;
        sigset_t set;

        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGCHLD);
        (void) sigprocmask(SIG_BLOCK, &set, NULL); /* as sd-event wants it */
        memset(&depot, 0, sizeof(depot));
        depot.world = w;
        depot.fail_at = NEVER;
        depot.code = -EIO;
        (void) snprintf(path, sizeof(path), "%s-%u", name, number++);
        world_new(w, path);
        if (refused)
                depot_refuse_rows(w, refused);
        check_result("random", secret_init(), 0);
        w->fake.provider.trees = w->fake.provider.layers = w->fake.provider.disks = &depot_trees;
        check_result("images", images_new(w->manager, &i, &error), 0);
        return i;
}

static inline void depot_close(World *w, Images *i) {
        images_free(i);
        for (; depot.n_queue > 0; depot.n_queue--)
                for (size_t k = 0; k < ELEMENTSOF(depot.queue->fds); k++)
                        (void) fd_close(depot.queue[depot.n_queue - 1].fds[k]);
        world_close(w);
}

static inline void depot_fail(unsigned at, Way way, Making *k) {
        depot.n = 0;
        depot.fail_at = at;
        depot.way = way;
        depot.making = k;
}
