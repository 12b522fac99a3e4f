/* File operations, both ends: the daemon's, and a worker forked from here in place of PID 1. Then a worker that lies. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/fileop.h"
#include "core/manager.h"
#include "init/worker.h"
#include "provider/native-internal.h"
#include "wire/channel.h"
#include "wire/file.h"

#define WAIT_USEC (60 * USEC_PER_SEC)

/* What was heard. */
typedef struct Heard {
        FileOp *op;
        unsigned n_entries, n_events, n_ends, n_writable;
        int error;
        uint64_t count;
        char path[FILE_PATH_BYTES];
        FileEntry entry; /* the last */
        FileEvent event;
        int fd;
        enum { FREE_NEVER, FREE_ON_ENTRY, FREE_ON_EVENT, FREE_ON_END } when;
        bool pause_on_entry;
} Heard;

/* The other side of the provider. */
static struct {
        pid_t worker;
        bool lies;
        int channel; /* the worker's end, for the test to lie on */
        int refuses; /* errno */
} other = { .channel = -EBADF };

/* In place of the channel to PID 1. */
int native_guest_send(Provider *p, Sandbox *sb, const GuestMessage *message, const int *fds, size_t n_fds) {
        check_int("type", message->type, GUEST_FILE);
        if (other.refuses)
                return -other.refuses;
        if (other.lies) {
                other.channel = fcntl(fds[0], F_DUPFD_CLOEXEC, 3);
                return 0;
        }
        other.worker = worker_start(&message->file, /* single_id= */ false, /* file_size_max= */ 0, fds, n_fds);
        return other.worker < 0 ? (int) other.worker : 0;
}

static const ProviderOps provider_ops = {
        .name = "test",
        .file_start = native_file_start,
        .file_commit = native_file_commit,
        .file_pause = native_file_pause,
        .file_end = native_file_end,
};
static Native native = { .provider = { .ops = &provider_ops, .archives = &native_archives } };
static Manager manager = { .provider = &native.provider };
static Sandbox sandbox = { .manager = &manager, .status = SANDBOX_READY };

static void on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        Heard *h = userdata;

        h->n_entries++;
        h->entry = *entry;
        h->fd = fd_close(h->fd);
        h->fd = fd;
        if (h->pause_on_entry)
                check_result("pause", fileop_pause(op, true), 0);
        if (h->when == FREE_ON_ENTRY)
                h->op = fileop_free(op);
}

static void on_event(FileOp *op, const FileEvent *event, void *userdata) {
        Heard *h = userdata;

        h->n_events++;
        h->event = *event;
        if (h->when == FREE_ON_EVENT)
                h->op = fileop_free(op);
}

static void on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Heard *h = userdata;

        h->n_ends++;
        h->error = error;
        h->count = count;
        (void) snprintf(h->path, sizeof(h->path), "%s", path);
        if (h->when == FREE_ON_END)
                h->op = fileop_free(op);
}

static void on_writable(FileOp *op, void *userdata) {
        ((Heard *) userdata)->n_writable++;
}

static const FileOpHandlers handlers = { .entry = on_entry, .event = on_event, .writable = on_writable, .end = on_end };

static FileRequest request(FileOperation operation, const char *name, uint32_t flags) {
        FileRequest q = {
                .operation = (uint16_t) operation,
                .flags = flags,
                .mode = FILE_MODE_NONE,
                .owner = FILE_ID_NONE,
                .group = FILE_ID_NONE,
        };

        (void) snprintf(q.path, sizeof(q.path), "%s", unit_path(name));
        return q;
}

static void start(Heard *h, const FileRequest *q) {
        Error error = { 0 };

        if (!other.lies && geteuid() != 0)
                unit_skip("a worker changes its user: run as root");
        if (!manager.event)
                check_true("loop", sd_event_new(&manager.event) >= 0);
        native.event = manager.event;
        check_result("start", fileop_start(&sandbox, q, &handlers, h, &h->op, &error), 0);
}

/* Until something has happened. */
#define RUN_UNTIL(condition)                                                                                \
        do {                                                                                                \
                usec_t give_up = clock_usec() + WAIT_USEC;                                                  \
                while (!(condition)) {                                                                      \
                        check_true(#condition, clock_usec() < give_up);                                     \
                        check_true("loop", sd_event_run(manager.event, 100 * USEC_PER_MSEC) >= 0);          \
                }                                                                                           \
        } while (0)

static void finish(Heard *h) {
        h->op = fileop_free(h->op);
        h->fd = fd_close(h->fd);
        other.channel = fd_close(other.channel);
        if (other.worker > 0)
                check_int("worker", waitpid(other.worker, NULL, 0), other.worker);
        other.worker = 0;
}

static void run(Heard *h, const FileRequest *q) {
        start(h, q);
        RUN_UNTIL(h->n_ends > 0);
        finish(h);
}

static int run_simple(FileOperation operation, const char *name, uint32_t flags) {
        FileRequest q = request(operation, name, flags);
        Heard h = { .fd = -EBADF };

        run(&h, &q);
        return h.error;
}

static void write_through(Heard *h, const FileRequest *q, const char *text) {
        start(h, q);
        if (text[0] != '\0')
                check_result("data", fileop_write(h->op, text, strlen(text)), (ssize_t) strlen(text));
        check_result("commit", fileop_commit(h->op), 0);
        RUN_UNTIL(h->n_ends > 0);
        finish(h);
}

static void check_content(const char *name, const char *expected) {
        char text[256];

        check_true(name, file_read(AT_FDCWD, unit_path(name), text, sizeof(text)) >= 0);
        check_string(name, text, expected);
}

TEST(write_then_read) {
        FileRequest q = request(FILE_WRITE, "wr", 0);
        Heard h = { .fd = -EBADF };
        uint64_t before = sandbox.operations;
        char text[16] = "";

        write_through(&h, &q, "hello");
        check_result("write", h.error, 0);
        check_uint("created", h.count, 0);
        check_string("path", h.entry.path, q.path);
        check_uint("size", h.entry.size, 5);
        check_uint("mode", h.entry.mode, S_IFREG | 0644);
        check_content("wr", "hello");

        h = (Heard) { .fd = -EBADF };
        q.mode = 0600;
        write_through(&h, &q, "");
        check_result("replace", h.error, 0);
        check_uint("replaced", h.count, 1);
        check_uint("mode", h.entry.mode, S_IFREG | 0600);
        check_content("wr", "");

        unit_write_text(q.path, "read me");
        q.operation = FILE_READ;
        h = (Heard) { .fd = -EBADF };
        start(&h, &q);
        RUN_UNTIL(h.n_ends > 0);
        check_result("read", h.error, 0);
        check_true("descriptor", h.fd >= 0);
        check_int("bytes", read(h.fd, text, sizeof(text) - 1), 7);
        check_string("bytes", text, "read me");
        finish(&h);
        check_uint("operations", sandbox.operations - before, 3);
}

#define LARGE ((size_t) 3 << 20) /* more than a pipe holds */

static void check_large(const char *name) {
        struct stat st;

        check_result("stat", stat(unit_path(name), &st), 0);
        check_uint("size", (uint64_t) st.st_size, LARGE);
}

/* From memory: as the worker takes it, and then the commit. */
TEST(all_of_it) {
        FileRequest q = request(FILE_WRITE, "large", 0);
        _cleanup_free_ char *data = calloc(1, LARGE);
        Heard h = { .fd = -EBADF };

        start(&h, &q);
        check_result("write", fileop_write_all(h.op, data, LARGE), 0);
        RUN_UNTIL(h.n_ends > 0);
        check_result("end", h.error, 0);
        finish(&h);
        check_large("large");
}

/* In portions: whoever gave more than was taken is told when to go on. */
TEST(as_fast_as_it_is_taken) {
        FileRequest q = request(FILE_WRITE, "portions", 0);
        _cleanup_free_ char *data = calloc(1, LARGE);
        Heard h = { .fd = -EBADF };
        unsigned n_waits = 0;

        start(&h, &q);
        for (size_t sent = 0; sent < LARGE;) {
                unsigned before = h.n_writable;
                ssize_t n = fileop_write(h.op, data + sent, LARGE - sent);

                check_true("taken", n >= 0);
                sent += (size_t) n;
                if (sent == LARGE)
                        break;
                n_waits++;
                RUN_UNTIL(h.n_writable > before);
        }
        check_true("not at once", n_waits > 0);
        check_result("commit", fileop_commit(h.op), 0);
        check_result("after it", fileop_write(h.op, "x", 1), -EPIPE);
        RUN_UNTIL(h.n_ends > 0);
        check_result("end", h.error, 0);
        finish(&h);
        check_large("portions");
}

TEST(without_commit_nothing_happens) {
        FileRequest q = request(FILE_WRITE, "none/there", FILE_PARENTS);
        Heard h = { .fd = -EBADF };

        start(&h, &q);
        check_result("data", fileop_write(h.op, "half", 4), 4);
        (void) sd_event_run(manager.event, 50 * USEC_PER_MSEC);
        finish(&h);
        check_int("file", access(unit_path("none"), F_OK), -1);
}

TEST(errors_name_their_path) {
        FileRequest q = request(FILE_READ, "missing", 0);
        Heard h = { .fd = -EBADF };

        run(&h, &q);
        check_result("error", h.error, -ENOENT);
        check_string("path", h.path, q.path);
        check_result("directory", run_simple(FILE_READ, "", 0), -EISDIR);
        check_result("list of a file", (unit_write_text(unit_path("f"), ""), run_simple(FILE_LIST, "f", 0)), -ENOTDIR);
        check_int("fifo", mkfifo(unit_path("pipe"), 0600), 0);
        check_result("fifo", run_simple(FILE_READ, "pipe", 0), -EOPNOTSUPP);
        check_result("exists", run_simple(FILE_MKDIR, "f", FILE_PARENTS), -EEXIST);
}

TEST(another_user_may_less) {
        FileRequest q = request(FILE_READ, "closed", 0);
        Heard h = { .fd = -EBADF };

        unit_write_text(q.path, "secret");
        check_int("chmod", chmod(q.path, 0600), 0);
        check_int("chmod", chmod(unit_directory(), 0755), 0);
        q.uid = q.gid = 1000;
        run(&h, &q);
        check_result("read", h.error, -EACCES);

        h = (Heard) { .fd = -EBADF };
        q.operation = FILE_CHMOD;
        q.mode = 0666;
        run(&h, &q);
        check_result("chmod", h.error, -EPERM);
}

TEST(trees) {
        FileRequest q = request(FILE_MKDIR, "tree/a/b", FILE_PARENTS);
        Heard h = { .fd = -EBADF };

        run(&h, &q);
        check_result("mkdir", h.error, 0);
        check_uint("made", h.count, 3);
        unit_write_text(unit_path("tree/a/b/f"), "x");

        q = request(FILE_LIST, "tree", 0);
        q.depth = 9;
        q.limit = 2;
        h = (Heard) { .fd = -EBADF };
        run(&h, &q);
        check_uint("entries", h.n_entries, 2);
        check_string("path", h.entry.path, "a/b");
        check_uint("there is more", h.count, 3);

        q = request(FILE_COPY, "tree", FILE_RECURSIVE);
        (void) snprintf(q.target, sizeof(q.target), "%s", unit_path("copy"));
        h = (Heard) { .fd = -EBADF };
        run(&h, &q);
        check_result("copy", h.error, 0);
        check_string("path", h.entry.path, q.target);
        check_content("copy/a/b/f", "x");

        q = request(FILE_MOVE, "copy", 0);
        (void) snprintf(q.target, sizeof(q.target), "%s", unit_path("tree/moved"));
        h = (Heard) { .fd = -EBADF };
        run(&h, &q);
        check_result("move", h.error, 0);

        check_result("not empty", run_simple(FILE_REMOVE, "tree", 0), -ENOTEMPTY);
        check_result("remove", run_simple(FILE_REMOVE, "tree", FILE_RECURSIVE), 0);
        check_result("again", run_simple(FILE_REMOVE, "tree", FILE_RECURSIVE), -ENOENT);
        check_result("missing ok", run_simple(FILE_REMOVE, "tree", FILE_MISSING_OK), 0);
}

TEST(pack_hands_out_files) {
        FileRequest q = request(FILE_PACK, "pack", 0);
        Heard h = { .fd = -EBADF };

        check_int("mkdir", mkdir(q.path, 0755), 0);
        unit_write_text(unit_path("pack/f"), "x");
        start(&h, &q);
        RUN_UNTIL(h.n_ends > 0);
        check_uint("entries", h.n_entries, 2);
        check_string("last", h.entry.path, "f");
        check_true("descriptor", h.fd >= 0);
        finish(&h);
}

/* The channel is handed on: here to ourselves, who play the archive program. */
TEST(unpack_by_the_channel) {
        static uint8_t buffer[FILE_MESSAGE_MAX];
        const FileMessage says[] = {
                { .type = FILE_PUT, .entry = { .path = "d/f", .mode = S_IFREG | 0640 } },
                { .type = FILE_DATA, .bytes = { (const uint8_t *) "data", 4 } },
                { .type = FILE_PUT, .entry = { .path = "l", .target = "d/f", .mode = S_IFLNK | 0777 } },
                { .type = FILE_COMMIT },
        };
        FileRequest q = request(FILE_UNPACK, "unpacked", 0);
        _cleanup_close_ int channel = -EBADF;
        Heard h = { .fd = -EBADF };
        static FileMessage m;
        size_t n;

        start(&h, &q);
        channel = fileop_take_channel(h.op);
        check_true("channel", channel >= 0);
        for (size_t i = 0; i < ELEMENTSOF(says); i++) {
                ssize_t size = file_encode(says + i, buffer, sizeof(buffer));

                check_result("send", channel_send_bytes(channel, buffer, (size_t) size, NULL, 0, 0), 0);
        }
        check_int("answer", channel_receive_bytes(channel, 0, buffer, sizeof(buffer), &n, NULL, 0, NULL), 1);
        check_result("answer", file_decode(buffer, n, &m), 0);
        check_int("end", m.type, FILE_END);
        check_uint("entries", m.count, 2);
        check_content("unpacked/l", "data");
        finish(&h);
        check_uint("heard nothing", h.n_ends, 0);
}

TEST(watch_until_freed) {
        FileRequest q = request(FILE_WATCH, "watched", FILE_RECURSIVE);
        Heard h = { .fd = -EBADF, .when = FREE_ON_EVENT };

        check_int("mkdir", mkdir(q.path, 0755), 0);
        start(&h, &q);
        RUN_UNTIL(h.n_ends > 0);
        check_result("stands", h.error, 0);
        unit_write_text(unit_path("watched/f"), "");
        RUN_UNTIL(h.n_events > 0);
        check_string("path", h.event.path, "f");
        check_uint("kind", h.event.kind, FILE_CREATED);
        check_true("freed", !h.op);
        finish(&h);
}

/* What has labels is asked of the file system once: a tmpfs before Linux 6.6 has none. */
static bool has_labels(const char *path) {
        return setxattr(path, FILE_LABEL_PREFIX "probe", "1", 1, 0) >= 0 && removexattr(path, FILE_LABEL_PREFIX "probe") >= 0;
}

static void on_labels(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        Heard *h = userdata;
        const char *key, *value;
        size_t offset = 0;

        on_entry(op, entry, fd, userdata);
        h->path[0] = '\0';
        while (file_labels_next(entry->labels, entry->labels_size, &offset, &key, &value)) {
                size_t n = strlen(h->path);

                (void) snprintf(h->path + n, sizeof(h->path) - n, "%s=%s;", key, value);
        }
}

static void run_labels(Heard *h, const FileRequest *q) {
        static const FileOpHandlers with_labels = { .entry = on_labels };
        Error error = { 0 };

        *h = (Heard) { .fd = -EBADF };
        check_result("start", fileop_start(&sandbox, q, &with_labels, h, &h->op, &error), 0);
        if (q->operation == FILE_WRITE)
                check_result("commit", fileop_commit(h->op), 0);
        RUN_UNTIL(h->n_entries > 0);
        finish(h);
}

TEST(details) {
        FileRequest q = request(FILE_STAT, "details", FILE_DETAILS | FILE_NO_FOLLOW);
        Heard h = { .fd = -EBADF };

        unit_write_text(q.path, "x");
        check_int("chown", chown(q.path, 0, 54321), 0);
        run(&h, &q);
        check_result("stat", h.error, 0);
        check_true("detailed", h.entry.detailed);
        check_string("owner", h.entry.owner, "root");
        check_string("group", h.entry.group, "");

        check_int("symlink", symlink("details", unit_path("link")), 0);
        check_int("symlink", symlink("link", unit_path("link2")), 0);
        q = request(FILE_STAT, "link2", FILE_DETAILS | FILE_NO_FOLLOW);
        h = (Heard) { .fd = -EBADF };
        run(&h, &q);
        check_true("link", S_ISLNK(h.entry.mode));
        check_uint("mode of the target", h.entry.target_mode, S_IFREG | 0600);
        check_string("where it leads", strrchr(h.entry.target, '/'), "/details");
        check_true("absolute", h.entry.target[0] == '/');

        check_int("unlink", unlink(unit_path("details")), 0);
        h = (Heard) { .fd = -EBADF };
        run(&h, &q);
        check_uint("nowhere", h.entry.target_mode, 0);
        check_string("itself", h.entry.target, q.path);
}

TEST(labels_are_replaced) {
        static const uint8_t two[] = "author\0me\0Stage\0one", one[] = "author\0you";
        FileRequest q = request(FILE_WRITE, "labelled", FILE_DETAILS | FILE_SET_LABELS | FILE_IN_PLACE);
        Heard h;

        unit_write_text(q.path, "");
        if (!has_labels(q.path))
                unit_skip("the file system of the test has no user attributes: set TMPDIR to one that does");
        if (!manager.event)
                check_true("loop", sd_event_new(&manager.event) >= 0);
        for (int in_place = 1; in_place >= 0; in_place--) {
                q.flags = FILE_DETAILS | FILE_SET_LABELS | (in_place ? FILE_IN_PLACE : 0);
                q.labels = two;
                q.labels_size = sizeof(two);
                run_labels(&h, &q);
                check_part("two", h.path, "author=me;");
                check_part("two", h.path, "Stage=one;");
                q.labels = one;
                q.labels_size = sizeof(one);
                run_labels(&h, &q);
                check_string("one", h.path, "author=you;");
                q.labels_size = 0;
                run_labels(&h, &q);
                check_string("none", h.path, "");
        }
        check_int("from inside", setxattr(q.path, FILE_LABEL_PREFIX "k", "v", 1, 0), 0);
        check_int("no text", setxattr(q.path, FILE_LABEL_PREFIX "nul", "\0v", 2, 0), 0);
        q = request(FILE_STAT, "labelled", FILE_DETAILS);
        run_labels(&h, &q);
        check_string("from inside", h.path, "k=v;");
}

TEST(in_place) {
        FileRequest q = request(FILE_WRITE, "place/deep/f", FILE_IN_PLACE | FILE_PARENTS | FILE_OWN_PARENTS);
        Heard h = { .fd = -EBADF };
        struct stat st, before;

        q.owner = 1000;
        q.group = 1001;
        write_through(&h, &q, "first");
        check_result("write", h.error, 0);
        check_uint("created", h.count, 0);
        check_int("stat", stat(unit_path("place"), &st), 0);
        check_uint("parent's owner", st.st_uid, 1000);
        check_uint("parent's mode", st.st_mode & 07777, 0755);
        check_int("stat", stat(q.path, &before), 0);
        check_uint("group", before.st_gid, 1001);
        check_uint("mode", before.st_mode & 07777, 0644);

        check_int("chmod", chmod(q.path, 0640), 0);
        check_int("symlink", symlink("deep/f", unit_path("place/link")), 0);
        q = request(FILE_WRITE, "place/link", FILE_IN_PLACE);
        q.owner = 7;
        h = (Heard) { .fd = -EBADF };
        write_through(&h, &q, "2nd");
        check_result("through the link", h.error, 0);
        check_uint("replaced", h.count, 1);
        check_content("place/deep/f", "2nd");
        check_int("stat", stat(unit_path("place/deep/f"), &st), 0);
        check_true("the same file", st.st_ino == before.st_ino);
        check_uint("mode stays", st.st_mode & 07777, 0640);
        check_uint("owner", st.st_uid, 7);
        check_int("lstat", lstat(q.path, &st), 0);
        check_true("still a link", S_ISLNK(st.st_mode));

        check_result("a directory", run_simple(FILE_WRITE, "place", FILE_IN_PLACE), -EISDIR);
        check_int("fifo", mkfifo(unit_path("place/pipe"), 0600), 0);
        check_result("a pipe", run_simple(FILE_WRITE, "place/pipe", FILE_IN_PLACE), -EOPNOTSUPP);
}

TEST(in_place_given_up) {
        FileRequest q = request(FILE_WRITE, "given/up", FILE_IN_PLACE | FILE_PARENTS);
        Heard h = { .fd = -EBADF };

        start(&h, &q);
        check_result("data", fileop_write(h.op, "half", 4), 4);
        (void) sd_event_run(manager.event, 50 * USEC_PER_MSEC);
        finish(&h);
        check_int("file", access(unit_path("given"), F_OK), -1);
}

TEST(parents_have_owners) {
        FileRequest q = request(FILE_MKDIR, "own/a/b", FILE_PARENTS | FILE_OWN_PARENTS);
        Heard h = { .fd = -EBADF };
        struct stat st;

        q.owner = q.group = 1000;
        run(&h, &q);
        check_uint("made", h.count, 3);
        check_int("stat", stat(unit_path("own/a"), &st), 0);
        check_uint("owner", st.st_uid, 1000);
        check_int("stat", stat(unit_path("own/a/b"), &st), 0);
        check_uint("owner", st.st_uid, 1000);
        h = (Heard) { .fd = -EBADF };
        run(&h, &q);
        check_result("again", h.error, 0);
        check_uint("there already", h.count, 0);

        unit_write_text(unit_path("own/f"), "x");
        q = request(FILE_MOVE, "own/f", FILE_PARENTS | FILE_OWN_PARENTS);
        q.owner = 5;
        (void) snprintf(q.target, sizeof(q.target), "%s", unit_path("own/new/g"));
        h = (Heard) { .fd = -EBADF };
        run(&h, &q);
        check_result("move", h.error, 0);
        check_int("stat", stat(unit_path("own/new"), &st), 0);
        check_uint("owner", st.st_uid, 5);
        check_int("stat", stat(q.target, &st), 0);
        check_uint("the thing's stays", st.st_uid, 0);
}

TEST(watch_with_details) {
        FileRequest q = request(FILE_WATCH, "shown", FILE_RECURSIVE | FILE_DETAILS | FILE_DIRECTORY | FILE_LEAVERS);
        Heard h = { .fd = -EBADF };

        check_int("mkdir", mkdir(q.path, 0755), 0);
        start(&h, &q);
        RUN_UNTIL(h.n_ends > 0);
        unit_write_text(unit_path("shown/f"), "");
        RUN_UNTIL(h.n_events > 0);
        check_true("entry", h.n_entries > 0);
        check_string("entry", h.entry.path, "f");
        check_string("owner", h.entry.owner, "root");

        /* Who writes into a directory as soon as it was told of is heard of. */
        check_int("mkdir", mkdir(unit_path("shown/d"), 0755), 0);
        RUN_UNTIL(strcmp(h.event.path, "d") == 0);
        unit_write_text(unit_path("shown/d/f"), "x");
        RUN_UNTIL(strcmp(h.event.path, "d/f") == 0 && h.event.kind == FILE_MODIFIED);

        check_int("away", rename(unit_path("shown/d/f"), unit_path("elsewhere")), 0);
        RUN_UNTIL(h.event.kind == FILE_RENAMED);
        check_string("left", h.event.path, "d/f");
        check_string("for nowhere", h.event.target, "");
        finish(&h);
        check_result("a file", run_simple(FILE_WATCH, "elsewhere", FILE_DIRECTORY), -ENOTDIR);
}

TEST(watch_ends_with_what_it_watches) {
        FileRequest q = request(FILE_WATCH, "doomed", FILE_RECURSIVE);
        Heard h = { .fd = -EBADF };

        check_int("mkdir", mkdir(q.path, 0755), 0);
        start(&h, &q);
        RUN_UNTIL(h.n_ends > 0);
        check_int("rmdir", rmdir(q.path), 0);
        RUN_UNTIL(h.n_ends > 1);
        check_result("over", h.error, -ENOENT);
        check_uint("told", h.event.kind, FILE_REMOVED);
        finish(&h);
}

TEST(free_from_within) {
        FileRequest q = request(FILE_LIST, "", 0);
        size_t before = unit_count_descriptors();

        for (int when = FREE_ON_ENTRY; when <= FREE_ON_END; when++) {
                Heard h = { .fd = -EBADF, .when = when };

                unit_write_text(unit_path("something"), "");
                start(&h, &q);
                RUN_UNTIL(h.n_entries > 0);
                if (when == FREE_ON_EVENT)
                        RUN_UNTIL(h.n_ends > 0);
                else
                        RUN_UNTIL(!h.op);
                finish(&h);
        }
        check_true("descriptors", unit_count_descriptors() <= before + 4); /* the loop's own */
}

TEST(pause_and_go_on) {
        FileRequest q = request(FILE_LIST, "paused", 0);
        Heard h = { .fd = -EBADF, .pause_on_entry = true };

        check_int("mkdir", mkdir(q.path, 0755), 0);
        unit_write_text(unit_path("paused/a"), "");
        unit_write_text(unit_path("paused/b"), "");
        start(&h, &q);
        RUN_UNTIL(h.n_entries > 0);
        for (unsigned i = 0; i < 5; i++)
                (void) sd_event_run(manager.event, 10 * USEC_PER_MSEC);
        check_uint("paused", h.n_entries, 1);
        h.pause_on_entry = false;
        check_result("go on", fileop_pause(h.op, false), 0);
        RUN_UNTIL(h.n_ends > 0);
        check_uint("all", h.n_entries, 2);
        finish(&h);
}

TEST(states) {
        FileRequest q = request(FILE_STAT, "", 0);
        Error error = { 0 };
        FileOp *op;

        sandbox.status = SANDBOX_PAUSED;
        check_result("paused", fileop_start(&sandbox, &q, &handlers, NULL, &op, &error), -ESTALE);
        check_string("text", error.text, "Sandbox not running (state: paused)");
        sandbox.status = SANDBOX_READY;
        (void) strcpy(q.path, "relative");
        check_result("relative", fileop_start(&sandbox, &q, &handlers, NULL, &op, &error), -EINVAL);
        q = request(_FILE_OPERATION_MAX, "", 0);
        check_result("unknown", fileop_start(&sandbox, &q, &handlers, NULL, &op, &error), -EINVAL);
}

TEST(an_unreachable_sandbox) {
        FileRequest q = request(FILE_WRITE, "x", 0);
        size_t before;
        Error error = { 0 };
        FileOp *op;

        if (!manager.event)
                check_true("loop", sd_event_new(&manager.event) >= 0);
        before = unit_count_descriptors();
        other.refuses = EPIPE;
        check_result("start", fileop_start(&sandbox, &q, &handlers, NULL, &op, &error), -EPIPE);
        other.refuses = 0;
        check_part("text", error.text, "cannot reach the sandbox");
        check_uint("descriptors", unit_count_descriptors(), before);
}

/* Lies */

static void say(const FileMessage *m, int fd) {
        static uint8_t buffer[FILE_MESSAGE_MAX];
        ssize_t size = file_encode(m, buffer, sizeof(buffer));

        check_true("encode", size > 0);
        check_result("say", channel_send_bytes(other.channel, buffer, (size_t) size, &fd, fd >= 0 ? 1 : 0, 0), 0);
}

static FileMessage an_entry(const char *path, mode_t mode) {
        FileMessage m = { .type = FILE_ENTRY, .entry = { .mode = mode } };

        (void) snprintf(m.entry.path, sizeof(m.entry.path), "%s", path);
        return m;
}

/* Says it all, hangs up, and tells what the daemon made of it. */
static int lie(FileOperation operation, const FileMessage *messages, size_t n, int fd, Heard *h) {
        FileRequest q = request(operation, "", 0);

        (void) strcpy(q.target, "/t");
        q.limit = 2;
        *h = (Heard) { .fd = -EBADF };
        other.lies = true;
        start(h, &q);
        other.lies = false;
        for (size_t i = 0; i < n; i++)
                say(messages + i, fd);
        other.channel = fd_close(other.channel);
        RUN_UNTIL(h->n_ends > 0);
        check_uint("one end", h->n_ends, 1);
        finish(h);
        return h->error;
}

TEST(a_worker_that_just_goes) {
        Heard h;

        check_result("stat", lie(FILE_STAT, NULL, 0, -EBADF, &h), -EPIPE);
        check_result("in between", lie(FILE_LIST, &(FileMessage[]) { an_entry("a", S_IFDIR) }[0], 1, -EBADF, &h), -EPIPE);
}

TEST(a_worker_that_says_what_it_may_not) {
        const FileMessage absolute = an_entry("/a", S_IFREG), relative = an_entry("a", S_IFREG), end = { .type = FILE_END };
        const FileMessage event = { .type = FILE_EVENT, .event = { .kind = FILE_CREATED, .path = "x" } };
        const FileMessage up = { .type = FILE_EVENT, .event = { .kind = FILE_CREATED, .path = "../x" } };
        const struct {
                const char *name;
                FileOperation operation;
                FileMessage messages[3];
                size_t n;
        } cases[] = {
                { "end without entry",      FILE_STAT,   { end },                                             1 },
                { "two entries",            FILE_STAT,   { absolute, absolute },                              2 },
                { "an entry of a removal",  FILE_REMOVE, { absolute },                                        1 },
                { "more than the limit",    FILE_LIST,   { relative, relative, relative },                    3 },
                { "upwards",                FILE_LIST,   { an_entry("../a", S_IFREG) },                       1 },
                { "upwards inside",         FILE_LIST,   { an_entry("a/../../b", S_IFREG) },                  1 },
                { "absolute",               FILE_LIST,   { absolute },                                        1 },
                { "slash at the end",       FILE_LIST,   { an_entry("a/", S_IFREG) },                         1 },
                { "relative",               FILE_STAT,   { relative },                                        1 },
                { "a read without file",    FILE_READ,   { absolute },                                        1 },
                { "a pack without file",    FILE_PACK,   { relative },                                        1 },
                { "an event of no watch",   FILE_STAT,   { event },                                           1 },
                { "an event before END",    FILE_WATCH,  { event },                                           1 },
                { "a commit",               FILE_STAT,   { { .type = FILE_COMMIT } },                         1 },
                { "a put",                  FILE_UNPACK, { { .type = FILE_PUT, .entry.path = "x" } },         1 },
        };
        Heard h;

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_result(cases[i].name, lie(cases[i].operation, cases[i].messages, cases[i].n, -EBADF, &h), -EBADMSG);
        check_result("what follows the end", lie(FILE_STAT, (const FileMessage[]) { absolute, end, absolute }, 3, -EBADF, &h), 0);

        /* A watch has two ends: it stands, it breaks. */
        h = (Heard) { .fd = -EBADF };
        other.lies = true;
        start(&h, &(FileRequest) { .operation = FILE_WATCH, .path = "/w" });
        other.lies = false;
        say(&end, -EBADF);
        say(&up, -EBADF);
        RUN_UNTIL(h.n_ends == 2);
        check_result("event upwards", h.error, -EBADMSG);
        finish(&h);
}

TEST(a_worker_that_hands_out_the_wrong_thing) {
        const FileMessage entry = an_entry("/a", S_IFREG | 0644);
        _cleanup_close_ int pipe_fd = -EBADF, path_fd = open("/", O_PATH | O_CLOEXEC);
        _cleanup_close_ int proc_fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
        size_t before;
        int fds[2];
        Heard h;

        check_int("pipe", pipe2(fds, O_CLOEXEC), 0);
        pipe_fd = fds[0];
        (void) fd_close(fds[1]);
        if (!manager.event)
                check_true("loop", sd_event_new(&manager.event) >= 0);
        before = unit_count_descriptors();
        check_result("a pipe", lie(FILE_READ, &entry, 1, pipe_fd, &h), -EBADMSG);
        check_result("a path", lie(FILE_READ, &entry, 1, path_fd, &h), -EBADMSG);
        check_result("/proc", lie(FILE_READ, &entry, 1, proc_fd, &h), -EBADMSG);
        check_result("unasked", lie(FILE_STAT, &entry, 1, pipe_fd, &h), -EBADMSG);
        check_uint("descriptors", unit_count_descriptors(), before);
}

TEST(garbage) {
        FileRequest q = request(FILE_STAT, "", 0);
        static uint8_t bytes[FILE_MESSAGE_MAX + 1];
        static const size_t sizes[] = { 1, 3, 4, 100, FILE_MESSAGE_MAX, FILE_MESSAGE_MAX + 1 };

        memset(bytes, 0xa5, sizeof(bytes));
        for (size_t i = 0; i < ELEMENTSOF(sizes); i++) {
                Heard h = { .fd = -EBADF, .when = FREE_ON_END };

                other.lies = true;
                start(&h, &q);
                other.lies = false;
                check_int("send", send(other.channel, bytes, sizes[i], MSG_NOSIGNAL), (intmax_t) sizes[i]);
                RUN_UNTIL(h.n_ends > 0);
                check_result("garbage", h.error, -EBADMSG);
                finish(&h);
        }
}
