#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "store/database.h"
#include "store/statement.h"
#include "store/wal.h"

#define RESERVE_EVERY  256    /* commits */
#define FLUSHES_MAX    40
#define FLUSH_PAUSE    50000  /* microseconds */
#define EXIT_UNWRITTEN 125

/* Nothing is gathered where the log has no blocks of its own: a failure for want of room is its caller's alone. */
static void store_gather(Store *s) {
        wal_set_limit(wal_of(s->db), s->unwritten ? s->sure : 0);
}

void store_set_turn(Store *s, StoreUnwritten unwritten, void *userdata) {
        s->unwritten = unwritten;
        s->unwritten_data = userdata;
        store_gather(s);
}

/* What was gathered is known as done to everything in this process, so there is no way back from here. It has blocks
 * on the disk; a failure is the device's, and is tried again for a while. */
void store_flush_or_end(Store *s) {
        StoreWal *wal = wal_of(s->db);
        int r = sqlite_result(s->db, wal_flush(wal));

        if (r >= 0)
                return;
        (void) transaction_failed(s, r);
        log_error("the store cannot be written, trying again: %s", strerror(-r));
        for (unsigned i = 0; i < FLUSHES_MAX && r < 0; i++) {
                if (i > 0)
                        (void) usleep(FLUSH_PAUSE);
                r = sqlite_result(s->db, wal_flush(wal));
        }
        if (r >= 0)
                return;
        log_error("'%s' cannot be written (%s), so coved ends, before anything is answered that a restart would not know: see to the disk, and start it again",
                        s->path, strerror(-r));
        _exit(EXIT_UNWRITTEN);
}

void store_committed(Store *s) {
        bool urgent = s->urgent;

        s->urgent = false;
        if (!wal_waits(wal_of(s->db)))
                return;
        if (urgent || !s->unwritten)
                store_flush_or_end(s);
        else
                s->unwritten(s->unwritten_data);
}

/* If the disk is full, or the file system does not support it, this is tried again from time to time. */
static void store_reserve(Store *s) {
        int r;

        if (s->reserved || s->n_commits++ % RESERVE_EVERY != 0)
                return;
        r = database_reserve(s->path, &s->sure);
        s->reserved = r >= 0 || r == -EOPNOTSUPP;
        store_gather(s);
        if (r < 0)
                log_warning("the log of the store has no room of its own, so that on a full disk nothing can be written down%s: %s",
                                s->reserved ? ", as this file system cannot give it any" : "", strerror(-r));
}

int store_open(const char *path, Store **ret, Error *reterr) {
        Store *s = calloc(1, sizeof(Store));
        int r;

        assert(path);
        assert(ret);

        if (!s)
                return error_set(reterr, -ENOMEM, "cannot open database '%s': %m", path);
        s->path = strdup(path);
        r = s->path ? database_open(path, &store_migrations, &s->db, reterr) : error_set(reterr, -ENOMEM, "cannot open database '%s': %m", path);
        if (r >= 0) {
                r = statement_prepare_all(s);
                if (r < 0)
                        r = sqlite_error(reterr, r, s->db, path);
        }
        if (r < 0) {
                (void) store_close(s);
                return r;
        }
        store_reserve(s);
        *ret = s;
        return 0;
}

Store *store_close(Store *s) {
        if (!s)
                return NULL;
        store_rollback(s);
        if (s->db)
                store_flush_or_end(s);
        statement_finalize_all(s);
        database_close(s->path, s->db);
        free(s->path);
        free(s);
        return NULL;
}

int store_begin(Store *s) {
        assert(!s->in_transaction);

        s->in_transaction = true;
        s->began = s->timing ? clock_usec() : 0;
        (void) statement_run(s, s->transaction[TRANSACTION_BEGIN], SQLITE_OK, /* ret_value= */ NULL); /* a failure is kept until the commit */
        return 0;
}

int store_commit(Store *s) {
        int r;

        assert(s->in_transaction);

        r = statement_run(s, s->transaction[TRANSACTION_COMMIT], SQLITE_OK, /* ret_value= */ NULL); /* or the result of an earlier failure */
        if (r < 0) {
                store_rollback(s);
                return r;
        }
        s->in_transaction = false;
        store_committed(s);
        store_reserve(s);
        if (s->timing && s->began != 0)
                s->timing(clock_usec() - s->began, s->timing_data);
        return 0;
}

int store_end(Store *s, int r) {
        if (r >= 0)
                return store_commit(s);
        store_rollback(s);
        return r;
}

void store_may_lose(int r, const char *what) {
        if (r < 0)
                log_warning("cannot write down %s, ignoring: %s", what, strerror(-r));
}

void store_set_timing(Store *s, StoreTiming timing, void *userdata) {
        s->timing = timing;
        s->timing_data = userdata;
}

void store_rollback(Store *s) {
        if (!s->in_transaction)
                return;
        s->in_transaction = false;
        s->failed = 0;
        s->urgent = false;
        s->serial_reserved = s->serial_next; /* the reservation may have been rolled back too; serials in use stay used */
        if (!sqlite3_get_autocommit(s->db))
                (void) statement_run(s, s->transaction[TRANSACTION_ROLLBACK], SQLITE_OK, /* ret_value= */ NULL);
}

void store_set_room(Store *s, StoreRoom room, void *userdata) {
        s->room = room;
        s->room_data = userdata;
}

static bool is_of_the_machine(int r) {
        return r == -ENOSPC || r == -EIO || r == -EUCLEAN || r == -EROFS;
}

uint64_t store_failures(const Store *s, int *ret_last) {
        *ret_last = s->last_failure;
        return s->n_failures;
}

int transaction_failed(Store *s, int r) {
        if (is_of_the_machine(r)) {
                s->n_failures++;
                s->last_failure = r;
        }
        if (s->in_transaction && s->failed == 0)
                s->failed = r;
        return r;
}

bool transaction_enter(Store *s) {
        bool own = !s->in_transaction;

        if (own)
                (void) store_begin(s);
        return own;
}

int transaction_leave(Store *s, bool own, int r) {
        if (r < 0)
                (void) transaction_failed(s, r);
        return own ? store_commit(s) : r;
}

/* A committed transaction is in the log or, after a checkpoint with a sync, in the file, so it is enough to
 * sync the log. SQLite syncs the directory along with it the first time. */
int store_sync(Store *s) {
        store_flush_or_end(s);
        return sqlite_result(s->db, wal_sync(wal_of(s->db)));
}
