#include "cli/run-txn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "jail/userns.h"
#include "txn/commit.h"

static const char *const fate_names[_TXN_FATE_MAX] = {
        [TXN_KEPT] = "kept",           [TXN_EMPTY_GONE] = "unchanged", [TXN_COMMITTED] = "committed",
        [TXN_DISCARDED] = "discarded", [TXN_CONFLICT] = "conflict",
};

/* The target is absolute. Text behind a colon that is not absolute belongs to the directory's name. */
int run_txn_split(const char *value, char **ret_dir, char **ret_target) {
        const char *colon = strrchr(value, ':');
        bool has_target = colon && colon > value && colon[1] == '/';
        _cleanup_free_ char *dir = has_target ? strndup(value, (size_t) (colon - value)) : strdup(value);
        _cleanup_free_ char *target = has_target ? strdup(colon + 1) : NULL;

        if (!dir || (has_target && !target))
                return -ENOMEM;
        if (dir[0] == '\0')
                return -EINVAL;
        *ret_dir = TAKE_PTR(dir);
        *ret_target = TAKE_PTR(target);
        return 0;
}

/* "\040" and its like, in place. */
static void run_txn_unescape(char *text) {
        char *out = text;

        for (const char *p = text; *p; p++)
                if (p[0] == '\\' && p[1] && p[2] && p[3]) {
                        *out++ = (char) ((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
                        p += 3;
                } else
                        *out++ = *p;
        *out = '\0';
}

/* Returns the first mount below a directory, or NULL if there is none. A mount below it belongs to another
 * file system, and so not to the overlay. The caller frees it. */
static char *mount_below(const char *dir) {
        FILE *f = fopen("/proc/self/mountinfo", "re");
        _cleanup_free_ char *line = NULL;
        char *found = NULL;
        size_t room = 0;

        while (f && !found && getline(&line, &room, f) > 0) {
                char *field = line;

                for (int i = 0; i < 4 && field; i++) {
                        field = strchr(field, ' ');
                        field = field ? field + 1 : NULL;
                }
                if (!field)
                        continue;
                field[strcspn(field, " ")] = '\0';
                run_txn_unescape(field);
                if (strcmp(field, dir) != 0 && path_is_below(field, dir))
                        found = strdup(field);
        }
        if (f)
                (void) fclose(f);
        return found;
}

static int check_mounts(const Txn *t, bool privileged, Error *reterr) {
        _cleanup_free_ char *below = mount_below(t->dir);

        if (!below)
                return 0;
        if (!privileged) /* the kernel does not let us separate mounts that another user namespace owns */
                return error_set(reterr, -EBUSY, "--txn: '%s' is mounted below '%s', and only root can leave it out: choose a directory without "
                                                 "mounts below it",
                                below, t->dir);
        log_warning("'%s' is another file system and is not part of the transaction on '%s'", below, t->dir);
        return 0;
}

static int open_txn(RunTxn *t, uid_t uid, gid_t gid, Error *reterr) {
        _cleanup_close_ int dir = -EBADF;
        struct stat given, kept;
        int r;

        if (!t->id) {
                r = txn_create(t->dir, uid, gid, &t->txn, reterr);
                return r < 0 ? error_prefix(reterr, r, "--txn") : 0;
        }
        r = txn_open(t->id, /* lock= */ true, &t->txn, reterr);
        if (r < 0)
                return error_prefix(reterr, r, "--txn-id");
        dir = txn_open_dir(&t->txn, reterr);
        if (dir < 0)
                return error_prefix(reterr, dir, "--txn-id");
        if (stat(t->dir, &given) < 0 || fstat(dir, &kept) < 0)
                return error_set(reterr, -errno, "--txn: '%s': %m", t->dir);
        if (given.st_dev != kept.st_dev || given.st_ino != kept.st_ino)
                return error_set(reterr, -EINVAL, "--txn-id: transaction %s is of '%s', not of '%s'", t->id, t->txn.dir, t->dir);
        if (t->txn.uid != uid || t->txn.gid != gid)
                return error_set(reterr, -EINVAL, "--txn-id: transaction %s was begun with another user inside: use the same --user", t->id);
        return 0;
}

static int keep_command(Txn *t, const Strv *command) {
        strv_done(&t->command);
        t->command = (Strv) STRV_INIT(TXN_COMMAND_MAX);
        for (size_t i = 0; i < command->n && i < TXN_COMMAND_MAX; i++) {
                int r = strv_push(&t->command, command->items[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int note_begin(RunTxn *t, const Strv *command, Error *reterr) {
        free(t->txn.target);
        t->txn.target = strdup(t->target);
        if (!t->txn.target || keep_command(&t->txn, command) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        t->txn.runs++;
        t->txn.status = TXN_STATUS_NONE;
        t->txn.ended_usec = 0;
        return txn_save(&t->txn, reterr);
}

int run_txn_begin(RunTxn *t, JailSpec *spec, const Strv *command, Error *reterr) {
        JailBind *bind = spec->binds + t->bind;
        int r = userns_is_host_root();
        bool privileged = r > 0;

        if (r < 0)
                return error_set(reterr, r, "cannot read /proc/self/uid_map: %m");
        r = open_txn(t, privileged ? spec->uid : geteuid(), privileged ? spec->gid : getegid(), reterr);
        if (r < 0)
                return r;
        t->begun = true;
        r = check_mounts(&t->txn, privileged, reterr);
        if (r >= 0)
                r = note_begin(t, command, reterr);
        if (r < 0)
                return r;
        r = txn_open_layer(&t->txn, &t->layer, reterr);
        if (r < 0)
                return r;
        bind->layer_fd = r;
        r = txn_open_dir(&t->txn, reterr);
        if (r < 0)
                return r;
        bind->source_fd = r;
        bind->layer = t->layer;
        return 0;
}

static void tell_kept(const RunTxn *t) {
        const ChangeCount *n = &t->count;
        const char *id = t->txn.id;

        log_notice("%llu change%s of '%s' in transaction %s (%llu added, %llu modified, %llu deleted): `cove diff %s` shows, `cove commit %s` takes, "
                   "`cove discard %s` drops",
                        (unsigned long long) n->total, n->total == 1 ? "" : "s", t->txn.dir, id, (unsigned long long) n->kinds[CHANGE_ADDED],
                        (unsigned long long) n->kinds[CHANGE_MODIFIED], (unsigned long long) n->kinds[CHANGE_DELETED], id, id, id);
}

static int count_changes(RunTxn *t, Error *reterr) {
        _cleanup_close_ int dir = txn_open_dir(&t->txn, reterr), upper = -EBADF;

        if (dir < 0)
                return dir;
        upper = txn_open_upper(&t->txn, reterr);
        return upper < 0 ? upper : changes_count(dir, upper, &t->count, reterr);
}

static void tell_conflict(const char *path, const char *why, void *userdata) {
        log_error("'%s' %s", path, why);
}

static void tell_left_out(const char *path, const char *why, void *userdata) {
        log_warning("'%s' is left out: it %s", path, why);
}

/* A conflict is no failure of the run: the transaction is kept, and the user is told. */
static int commit_now(RunTxn *t, bool quiet, Error *reterr) {
        const CommitOptions o = { .conflict = tell_conflict, .left_out = tell_left_out };
        CommitResult result;
        bool gone;
        int r = commit_txn(&t->txn, /* to= */ NULL, &o, &result, &gone, reterr);

        if (r == -EEXIST) {
                t->fate = TXN_CONFLICT;
                log_warning("%s", reterr->text);
                return 1;
        }
        if (r < 0)
                return r;
        t->fate = TXN_COMMITTED;
        if (!quiet)
                log_notice("%llu change%s applied to '%s'", (unsigned long long) result.applied.total, result.applied.total == 1 ? "" : "s",
                                t->txn.dir);
        return 0;
}

static int run_txn_settle(RunTxn *t, int exit_status, bool quiet, Error *reterr) {
        int r;

        if (t->count.total == 0)
                t->fate = TXN_EMPTY_GONE;
        else if (t->at_end == TXN_AUTO_DISCARD)
                t->fate = TXN_DISCARDED;
        if (t->fate == TXN_EMPTY_GONE || t->fate == TXN_DISCARDED)
                return txn_remove(&t->txn, reterr);
        if (t->at_end == TXN_AUTO_COMMIT && exit_status == 0)
                r = commit_now(t, quiet, reterr);
        else
                r = 1;
        if (r > 0 && !quiet)
                tell_kept(t);
        return r < 0 ? r : 0;
}

int run_txn_end(RunTxn *t, bool started, int exit_status, bool quiet, Error *reterr) {
        int r;

        if (!t->begun)
                return 0;
        if (!started && !t->id)
                return txn_remove(&t->txn, reterr);
        t->txn.status = exit_status;
        t->txn.ended_usec = clock_wall_usec();
        r = txn_save(&t->txn, reterr);
        if (r < 0)
                return error_prefix(reterr, r, "transaction %s is kept", t->txn.id);
        r = count_changes(t, reterr);
        if (r < 0) { /* the guest, or another process that moved the directory, is the cause: the command's status stays as it is */
                log_warning("transaction %s is kept, but its changes cannot be listed: %s", t->txn.id, reterr->text);
                return 0;
        }
        r = run_txn_settle(t, exit_status, quiet, reterr);
        if (r < 0)
                return error_prefix(reterr, r, "transaction %s is kept", t->txn.id);
        return 0;
}

void run_txn_report(const RunTxn *t, JsonWriter *w) {
        if (!t->begun) {
                json_write_null(w, "transaction");
                return;
        }
        json_begin_object(w, "transaction");
        json_write_string(w, "id", t->txn.id);
        json_write_string(w, "directory", t->txn.dir);
        json_write_string(w, "fate", fate_names[t->fate]);
        json_write_integer(w, "added", (int64_t) t->count.kinds[CHANGE_ADDED]);
        json_write_integer(w, "modified", (int64_t) t->count.kinds[CHANGE_MODIFIED]);
        json_write_integer(w, "deleted", (int64_t) t->count.kinds[CHANGE_DELETED]);
        json_end_object(w);
}

void run_txn_done(RunTxn *t) {
        free(TAKE_PTR(t->dir));
        free(TAKE_PTR(t->target));
        free(TAKE_PTR(t->layer));
        txn_done(&t->txn);
}
