/* Transactions: records, changes, commits, without a sandbox: an upper is made by hand, as an overlay leaves it. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "txn/commit.h"
#include "txn/record.h"

static void put(int dirfd, const char *name, const char *text, mode_t mode) {
        _cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        check_true(name, fd >= 0);
        check_result(name, fd_write_all(fd, text, strlen(text)), 0);
        check_result(name, fchmod(fd, mode) < 0 ? -errno : 0, 0);
}

static void make(int dirfd, const char *name) {
        check_result(name, mkdirat(dirfd, name, 0755) < 0 ? -errno : 0, 0);
        check_result(name, fchmodat(dirfd, name, 0755, 0) < 0 ? -errno : 0, 0);
}

static void whiteout(int dirfd, const char *name) {
        check_result(name, mknodat(dirfd, name, S_IFCHR, makedev(0, 0)) < 0 ? -errno : 0, 0);
}

static void check_text(int dirfd, const char *name, const char *expected) {
        char text[256];
        ssize_t n = file_read(dirfd, name, text, sizeof(text));

        if (!expected)
                check_result(name, n, -ENOENT);
        else
                check_string(name, n < 0 ? strerror((int) -n) : text, expected);
}

/* A directory of the host's, and a transaction on it. */
static void begin(const char *name, Txn *t, int *ret_dir, int *ret_upper) {
        _cleanup_free_ char *home = strdup(unit_path("home")), *place = NULL;
        Error error = { 0 };

        check_true("path", asprintf(&place, "%s/%s", unit_directory(), name) > 0);
        check_result("mkdir", mkdir(place, 0755), 0);
        check_result("environment", setenv("COVE_TXN_DIR", home, 1), 0);
        *ret_dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        put(*ret_dir, "a", "one\n", 0644);
        put(*ret_dir, "b", "two\n", 0644);
        make(*ret_dir, "sub");
        put(*ret_dir, "sub/x", "x\n", 0644);
        put(*ret_dir, "sub/y", "y\n", 0644);
        check_result(error.text, txn_create(place, geteuid(), getegid(), t, &error), 0);
        *ret_upper = txn_open_upper(t, &error);
        check_true(error.text, *ret_upper >= 0);
}

static void end(Txn *t, int dir, int upper) {
        Error error = { 0 };

        check_result(error.text, txn_remove(t, &error), 0);
        txn_done(t);
        (void) fd_close(dir);
        (void) fd_close(upper);
}

typedef struct Told {
        char text[4096];
} Told;

static int tell(const Change *c, void *userdata) {
        Told *t = userdata;
        size_t n = strlen(t->text);

        (void) snprintf(t->text + n, sizeof(t->text) - n, "%c %s%s%s\n", change_letter(c->kind), c->path,
                        S_ISDIR(c->after.st_mode ? c->after.st_mode : c->before.st_mode) ? "/" : "", c->implied ? " (implied)" : "");
        return 0;
}

static void check_changes(int dir, int upper, const char *expected) {
        Error error = { 0 };
        Told told = { 0 };

        check_result(error.text, changes_walk(dir, upper, tell, &told, &error), 0);
        check_string("changes", told.text, expected);
}

TEST(txn_ids) {
        static const char *const bad[] = { "", "txn-", "txn-abc", "txn-ABCDEF", "txn-abcdefg", "../aaaaaaa", "txn-ab/def", "abcdefghij" };

        check_true("good", txn_id_is_valid("txn-a0b1c2"));
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                check_true(bad[i], !txn_id_is_valid(bad[i]));
}

TEST(txn_record_text) {
        static const char *const texts[] = { "plain", "a b=c", "100%", "new\nline", "\x01\x7f\xff", "%0a" };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                char *text = NULL;
                size_t size;
                FILE *f = open_memstream(&text, &size);

                record_put_text(f, texts[i]);
                check_int("close", fclose(f), 0);
                check_true("one line", !strchr(text, '\n'));
                check_result(texts[i], record_get_text(text), 0);
                check_string("back", text, texts[i]);
                free(text);
        }
        for (size_t i = 0; i < 4; i++) {
                char text[8];

                (void) snprintf(text, sizeof(text), "%s", (const char *const[]) { "%", "%4", "%zz", "%00" }[i]);
                check_result(text, record_get_text(text), -EBADMSG);
        }
}

TEST(txn_record_comes_back) {
        Txn t = TXN_EMPTY, again = TXN_EMPTY, busy = TXN_EMPTY;
        Error error = { 0 };
        int dir, upper;

        begin("record", &t, &dir, &upper);
        t.target = strdup("/work\nspace");
        t.status = 3;
        t.runs = 2;
        check_result("word", strv_push(&t.command, "sh -c\n%"), 0);
        check_result("save", txn_save(&t, &error), 0);
        check_result("open", txn_open(t.id, /* lock= */ false, &again, &error), 0);
        check_string("dir", again.dir, t.dir);
        check_string("target", again.target, t.target);
        check_string("word", again.command.items[0], "sh -c\n%");
        check_uint("since", again.since_nsec, t.since_nsec);
        check_int("status", again.status, 3);
        check_uint("runs", again.runs, 2);
        check_result("locked", txn_open(t.id, /* lock= */ true, &busy, &error), -EBUSY);
        check_result("none", txn_open("txn-000000", /* lock= */ false, &busy, &error), -ENOENT);
        txn_done(&again);
        end(&t, dir, upper);
}

TEST(txn_paths_that_are_wanted) {
        static const char *const some[] = { "a", "sub/x" };

        check_true("all", change_is_wanted("z", NULL, 0));
        check_true("itself", change_is_wanted("a", some, 2));
        check_true("below", change_is_wanted("a/b", some, 2));
        check_true("another of the same beginning", !change_is_wanted("ab", some, 2));
        check_true("above", !change_is_wanted("sub", some, 2));
        check_true("beside", !change_is_wanted("sub/y", some, 2));
}

TEST(txn_changes) {
        Txn t = TXN_EMPTY;
        int dir, upper;

        begin("changes", &t, &dir, &upper);
        check_changes(dir, upper, "");
        put(upper, "a", "one\n", 0644); /* copied up, and left as it was */
        check_changes(dir, upper, "");
        put(upper, "a", "ONE\n", 0644);
        whiteout(upper, "b");
        whiteout(upper, "never-was");
        make(upper, "new");
        put(upper, "new/f", "f\n", 0644);
        check_changes(dir, upper, "M a\nD b\nA new/\nA new/f (implied)\n");
        whiteout(upper, "sub");
        check_changes(dir, upper, "M a\nD b\nA new/\nA new/f (implied)\nD sub/\nD sub/x (implied)\nD sub/y (implied)\n");
        end(&t, dir, upper);
}

TEST(txn_changes_of_an_opaque_directory) {
        _cleanup_close_ int sub = -EBADF;
        Txn t = TXN_EMPTY;
        int dir, upper;

        begin("opaque", &t, &dir, &upper);
        make(upper, "sub");
        sub = openat(upper, "sub", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        put(sub, "y", "y\n", 0644);
        check_changes(dir, upper, "");
        check_result("opaque", fsetxattr(sub, "user.overlay.opaque", "y", 1, 0) < 0 ? -errno : 0, 0);
        check_changes(dir, upper, "D sub/x\n");
        end(&t, dir, upper);
}

static void remember(const char *path, const char *why, void *userdata) {
        Told *t = userdata;
        size_t n = strlen(t->text);

        (void) snprintf(t->text + n, sizeof(t->text) - n, "%s ", path);
}

TEST(txn_commit_is_all_or_nothing) {
        Told told = { 0 };
        CommitOptions o = { .conflict = remember, .userdata = &told };
        Error error = { 0 };
        Txn t = TXN_EMPTY;
        CommitResult result;
        bool gone;
        int dir, upper;

        begin("commit", &t, &dir, &upper);
        put(upper, "a", "ONE\n", 0600);
        whiteout(upper, "b");
        make(upper, "new");
        put(upper, "new/f", "f\n", 04755);
        put(dir, "a", "theirs\n", 0644);
        check_result("clash", commit_txn(&t, NULL, &o, &result, &gone, &error), -EEXIST);
        check_string("conflicts", told.text, "a ");
        check_text(dir, "a", "theirs\n");
        check_text(dir, "b", "two\n");
        check_text(dir, "new/f", NULL);
        o.force = true;
        check_result(error.text, commit_txn(&t, NULL, &o, &result, &gone, &error), 0);
        check_true("gone", gone);
        check_uint("applied", result.applied.total, 4);
        check_text(dir, "a", "ONE\n");
        check_text(dir, "b", NULL);
        check_text(dir, "new/f", "f\n");
        struct stat st;
        check_result("stat", fstatat(dir, "new/f", &st, 0), 0);
        check_uint("no set-id bit", st.st_mode & 07777, 0755);
        txn_done(&t);
        (void) fd_close(dir);
        (void) fd_close(upper);
}

TEST(txn_commit_of_some) {
        static const char *const paths[] = { "sub/x", "new/f" };
        const CommitOptions o = { .paths = paths, .n_paths = 2 };
        Error error = { 0 };
        Txn t = TXN_EMPTY;
        CommitResult result;
        bool gone;
        int dir, upper;

        begin("some", &t, &dir, &upper);
        put(upper, "a", "ONE\n", 0644);
        make(upper, "sub");
        whiteout(upper, "sub/x");
        make(upper, "new");
        put(upper, "new/f", "f\n", 0644);
        put(upper, "new/g", "g\n", 0644);
        check_result(error.text, commit_txn(&t, NULL, &o, &result, &gone, &error), 0);
        check_true("kept", !gone);
        check_text(dir, "a", "one\n");
        check_text(dir, "sub/x", NULL);
        check_text(dir, "new/f", "f\n");
        check_text(dir, "new/g", NULL);
        check_changes(dir, upper, "M a\nA new/g\n");
        end(&t, dir, upper);
}

TEST(txn_a_directory_that_holds_the_transactions_is_refused) {
        _cleanup_free_ char *inside = strdup(unit_path("holds/txn"));
        Error error = { 0 };
        Txn t = TXN_EMPTY;

        check_result("mkdir", mkdir(unit_path("holds"), 0755), 0);
        check_result("environment", setenv("COVE_TXN_DIR", inside, 1), 0);
        check_result("inside", txn_create(unit_path("holds"), geteuid(), getegid(), &t, &error), -ELOOP);
        check_part("text", error.text, "COVE_TXN_DIR");
}

TEST(txn_deep_trees_can_be_removed) {
        _cleanup_close_ int top = open(unit_directory(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int fd = fcntl(top, F_DUPFD_CLOEXEC, 3);

        for (int i = 0; i < 1000; i++) {
                int next;

                make(fd, "d");
                put(fd, "f", "x", 0);
                next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                (void) fchmod(fd, fd == top || i == 0 ? 0755 : 0);
                (void) fd_close(fd);
                fd = next;
        }
        (void) fd_close(fd);
        (void) unlinkat(top, "f", 0);
        check_result("removed", txn_remove_tree(top, "d"), 0);
        check_result("gone", faccessat(top, "d", F_OK, 0) < 0 ? -errno : 0, -ENOENT);
}
