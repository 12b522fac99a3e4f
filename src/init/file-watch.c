#include "init/file-ops.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/hashset.h"
#include "init/file-place.h"
#include "init/file-walk.h"
#include "init/file-watched.h"

#define MASK                                                                                                          \
        (IN_CREATE | IN_MODIFY | IN_ATTRIB | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | \
                        IN_ONLYDIR | IN_EXCL_UNLINK)
#define BUFFER_SIZE  65536
#define EVENT_MAX    (sizeof(struct inotify_event) + NAME_MAX + 1)
#define AHEAD_MAX    64 /* events between the two halves of a rename: each comes from another process at that very moment */
#define AHEAD_MSEC   1
#define DEPTH_MAX    (FILE_PATH_BYTES / 2 + 1)

typedef struct FileWatch {
        FileJob *job;
        Watched dirs;
        char top[FILE_PATH_BYTES]; /* the directory's path */
        char only[NAME_MAX + 1];   /* the only file in it that is watched; empty: all */
        bool recursive;
        HashSet seen; /* pairs of a watch and a name */
        FileEvent last; /* sent in this round, so that a thousand small writes are one event */

        _Alignas(struct inotify_event) char buffer[BUFFER_SIZE];
        size_t begin, end;
} FileWatch;

/* Sends the current state of the file before its event; sends none if the file is gone by now. */
static int tell_entry(FileWatch *w, FileEventKind kind, const FileEvent *e) {
        const char *relative = kind == FILE_RENAMED ? e->target : e->path;
        char path[FILE_PATH_BYTES];
        struct stat st;

        if (!(w->job->request->flags & FILE_DETAILS) || kind == FILE_REMOVED || kind == FILE_OVERFLOW ||
            (kind == FILE_RENAMED && relative[0] == '\0'))
                return 0;
        if ((size_t) snprintf(path, sizeof(path), "%s/%s", w->top, relative) >= sizeof(path) || lstat(path, &st) < 0)
                return 0;
        return job_send_entry(w->job, relative, /* target= */ NULL, &st, -EBADF);
}

static int file_watch_tell(FileWatch *w, FileEventKind kind, bool directory, const char *path, const char *target) {
        FileMessage m = { .type = FILE_EVENT, .event = { .kind = (uint8_t) kind, .directory = directory } };
        int r;

        (void) snprintf(m.event.path, sizeof(m.event.path), "%s", path);
        (void) snprintf(m.event.target, sizeof(m.event.target), "%s", target);
        if (kind == FILE_MODIFIED && w->last.kind == kind && strcmp(w->last.path, m.event.path) == 0)
                return 0;
        w->last = m.event;
        r = tell_entry(w, kind, &m.event);
        return r < 0 ? r : job_send(w->job, &m, -EBADF);
}

static int tell_in(FileWatch *w, FileEventKind kind, bool directory, int node, const char *name) {
        char path[FILE_PATH_BYTES];
        int r = watched_path(&w->dirs, node, w->only[0] != '\0' ? "" : name, path);

        return r < 0 ? r : file_watch_tell(w, kind, directory, path, "");
}

/* Returns the node, or WATCHED_NONE if the directory is gone or may not be read. */
static int add_watch(FileWatch *w, int parent, const char *name, int *ret) {
        char relative[FILE_PATH_BYTES], path[FILE_PATH_BYTES];
        bool is_top = parent == WATCHED_NONE;
        int wd, r;

        r = watched_path(&w->dirs, parent, name, relative);
        if (r < 0)
                return r;
        if ((size_t) snprintf(path, sizeof(path), "%s%s%s", w->top, is_top ? "" : "/", relative) >= sizeof(path))
                return -ENAMETOOLONG;
        *ret = WATCHED_NONE;
        wd = inotify_add_watch(w->dirs.inotify, path[0] != '\0' ? path : "/", MASK | (is_top ? 0 : IN_DONT_FOLLOW));
        if (wd < 0) {
                if (!is_top && (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP))
                        return 0;
                return job_fail_below(w->job, -errno, w->top, relative);
        }
        r = watched_put(&w->dirs, wd, parent, name);
        if (r < 0) {
                (void) inotify_rm_watch(w->dirs.inotify, wd);
                return job_fail_below(w->job, r, w->top, relative);
        }
        *ret = r;
        return 0;
}

/* The entries that were reported after reading a directory, and that inotify may report once more. A directory
 * that appears is read after its watch is set, so that nothing is missed, and entries made in between are seen
 * twice. The set is emptied as soon as the queue of events is empty. */
static uint64_t watch_hash(int wd, const char *name) {
        uint64_t h = hash_text((HASH_BEGIN ^ (uint64_t) (unsigned) wd) * UINT64_C(0x100000001b3), name);

        return h ^ h >> 29;
}

static bool watch_seen_take(FileWatch *w, int wd, const char *name) {
        return hashset_take(&w->seen, watch_hash(wd, name));
}

static int tell_found(FileWatch *w, const Walk *walk, int parent) {
        bool directory = S_ISDIR(walk->st.st_mode);
        int r;

        if (parent == WATCHED_NONE)
                return 0;
        r = hashset_add(&w->seen, watch_hash(w->dirs.nodes[parent].wd, walk->name));
        return r < 0 ? r : tell_in(w, FILE_CREATED, directory, parent, walk->name);
}

/* Each directory gets its watch before it is read. */
static int cover_below(FileWatch *w, int node, int fd, bool report) {
        static int nodes[DEPTH_MAX]; /* by depth */
        _cleanup_(walk_done) Walk walk = { .top = fd, .skip_forbidden = true };
        int r;

        nodes[0] = node;
        while ((r = walk_next(&walk)) > 0) {
                int parent = nodes[walk.depth - 1];

                if (temporary_name_is(walk.name)) {
                        walk_skip(&walk);
                        continue;
                }
                nodes[walk.depth] = WATCHED_NONE;
                if (S_ISDIR(walk.st.st_mode) && parent != WATCHED_NONE) {
                        r = add_watch(w, parent, walk.name, nodes + walk.depth);
                        if (r < 0)
                                return r;
                }
                r = report ? tell_found(w, &walk, parent) : job_alive(w->job);
                if (r < 0)
                        return r;
                if (S_ISDIR(walk.st.st_mode) && nodes[walk.depth] == WATCHED_NONE)
                        walk_skip(&walk);
        }
        return r;
}

/* Watches a directory and all below it; entries found there are reported as created. */
static int file_watch_cover(FileWatch *w, int parent, const char *name, bool report) {
        char relative[FILE_PATH_BYTES];
        _cleanup_close_ int top = -EBADF, fd = -EBADF;
        int node, r;

        r = add_watch(w, parent, name, &node);
        if (r < 0 || node == WATCHED_NONE || !w->recursive)
                return r;
        r = watched_path(&w->dirs, node, "", relative);
        if (r < 0)
                return r;
        /* Held no longer than needed: while a process holds a directory open, the kernel does not report its
         * removal. */
        top = open(w->top[0] != '\0' ? w->top : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        fd = top < 0 ? -errno : open_beneath(top, relative, O_RDONLY | O_DIRECTORY, /* links= */ false);
        if (fd < 0)
                return 0; /* gone already; an event will report it */
        return cover_below(w, node, fd, report);
}

/* Reads the pending events; waits no longer than the timeout. 1: some came, 0: none. */
static int file_watch_fill(FileWatch *w, int timeout_msec) {
        struct pollfd fds[] = {
                { .fd = w->dirs.inotify, .events = POLLIN },
                { .fd = w->job->channel, .events = 0      },
        };
        ssize_t n;

        if (poll(fds, ELEMENTSOF(fds), timeout_msec) < 0)
                return errno == EINTR ? 0 : -errno;
        if (fds[1].revents)
                return -EPIPE;
        n = read(w->dirs.inotify, w->buffer + w->end, sizeof(w->buffer) - w->end);
        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        w->end += (size_t) n;
        return n > 0;
}

static struct inotify_event *event_at(FileWatch *w, size_t at) {
        return at < w->end ? (struct inotify_event *) (void *) (w->buffer + at) : NULL;
}

static size_t event_size(const struct inotify_event *e) {
        return sizeof(*e) + e->len;
}

/* Finds the other half of a rename. It follows closely, unless the entry has left the tree: then it never comes. */
static struct inotify_event *find_partner(FileWatch *w, uint32_t cookie) {
        size_t at = w->begin;

        for (unsigned i = 0; i < AHEAD_MAX; i++) {
                struct inotify_event *e = event_at(w, at);

                if (!e) {
                        if (sizeof(w->buffer) - w->end < EVENT_MAX || file_watch_fill(w, AHEAD_MSEC) <= 0)
                                return NULL;
                        e = event_at(w, at);
                        if (!e)
                                return NULL;
                }
                if ((e->mask & IN_MOVED_TO) && e->cookie == cookie)
                        return e;
                at += event_size(e);
        }
        return NULL;
}

static int on_appeared(FileWatch *w, int node, const struct inotify_event *e) {
        bool directory = e->mask & IN_ISDIR;
        int r;

        if (watch_seen_take(w, e->wd, e->name))
                return 0;
        if (directory && w->recursive) {
                int child;

                /* The watch is set before the event is sent: if the client writes into the directory at once,
                 * the write is reported as well. */
                r = add_watch(w, node, e->name, &child);
                if (r < 0)
                        return r;
        }
        r = tell_in(w, FILE_CREATED, directory, node, e->name);
        if (r < 0 || !directory || !w->recursive)
                return r;
        return file_watch_cover(w, node, e->name, /* report= */ true);
}

static int on_disappeared(FileWatch *w, int node, const struct inotify_event *e) {
        (void) watch_seen_take(w, e->wd, e->name);
        if ((e->mask & (IN_ISDIR | IN_MOVED_FROM)) == (IN_ISDIR | IN_MOVED_FROM)) {
                int child = watched_child(&w->dirs, node, e->name);

                if (child != WATCHED_NONE)
                        watched_forget(&w->dirs, child);
        }
        if ((e->mask & IN_MOVED_FROM) && (w->job->request->flags & FILE_LEAVERS))
                return tell_in(w, FILE_RENAMED, e->mask & IN_ISDIR, node, e->name);
        return tell_in(w, FILE_REMOVED, e->mask & IN_ISDIR, node, e->name);
}

static int on_renamed(FileWatch *w, int from, const struct inotify_event *e, int to, const struct inotify_event *partner) {
        char old[FILE_PATH_BYTES], path[FILE_PATH_BYTES];
        int r, child;

        (void) watch_seen_take(w, e->wd, e->name);
        (void) watch_seen_take(w, partner->wd, partner->name);
        r = watched_path(&w->dirs, from, e->name, old);
        if (r >= 0)
                r = watched_path(&w->dirs, to, partner->name, path);
        if (r < 0)
                return r;
        child = e->mask & IN_ISDIR ? watched_child(&w->dirs, from, e->name) : WATCHED_NONE;
        if (child != WATCHED_NONE) {
                r = watched_rename(&w->dirs, child, to, partner->name);
                if (r < 0)
                        return r;
        }
        r = file_watch_tell(w, FILE_RENAMED, e->mask & IN_ISDIR, old, path);
        if (r < 0 || child != WATCHED_NONE || !(e->mask & IN_ISDIR) || !w->recursive)
                return r;
        return file_watch_cover(w, to, partner->name, /* report= */ true); /* the directory was moved on before it could be watched */
}

static int on_moved_from(FileWatch *w, int node, const struct inotify_event *e) {
        struct inotify_event *partner = w->only[0] != '\0' ? NULL : find_partner(w, e->cookie);
        int to = partner ? watched_find(&w->dirs, partner->wd) : WATCHED_NONE;

        if (to == WATCHED_NONE || temporary_name_is(partner->name))
                return on_disappeared(w, node, e);
        partner->mask = 0;
        return on_renamed(w, node, e, to, partner);
}

/* Events are lost, and it is unknown which. The watches at least are made right again. */
static int on_overflow(FileWatch *w) {
        int r = file_watch_tell(w, FILE_OVERFLOW, false, "", "");

        if (r < 0 || !w->recursive)
                return r;
        w->dirs.round++;
        r = file_watch_cover(w, WATCHED_NONE, "", /* report= */ false);
        watched_forget_unseen(&w->dirs);
        return r;
}

/* The watched file or directory is gone, and so is the watch. */
static int on_top_gone(FileWatch *w) {
        int r = file_watch_tell(w, FILE_REMOVED, w->only[0] == '\0', "", "");

        return r < 0 ? r : -ENOENT;
}

static int on_nameless(FileWatch *w, int node, const struct inotify_event *e) {
        bool is_top = w->dirs.nodes[node].parent == WATCHED_NONE;

        if (is_top && (e->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)))
                return on_top_gone(w);
        if (e->mask & IN_IGNORED)
                watched_drop(&w->dirs, node);
        if (is_top && (e->mask & IN_ATTRIB) && w->only[0] == '\0')
                return file_watch_tell(w, FILE_ATTRIBUTES, true, "", "");
        return 0; /* other directories are reported by their parents */
}

static int on_named(FileWatch *w, int node, const struct inotify_event *e) {
        bool directory = e->mask & IN_ISDIR;

        if (temporary_name_is(e->name) || (w->only[0] != '\0' && strcmp(w->only, e->name) != 0))
                return 0;
        if (e->mask & (IN_CREATE | IN_MOVED_TO))
                return on_appeared(w, node, e);
        if (e->mask & IN_MOVED_FROM)
                return on_moved_from(w, node, e);
        if (e->mask & IN_DELETE)
                return on_disappeared(w, node, e);
        if (e->mask & IN_MODIFY)
                return tell_in(w, FILE_MODIFIED, directory, node, e->name);
        if (e->mask & IN_ATTRIB)
                return tell_in(w, FILE_ATTRIBUTES, directory, node, e->name);
        return 0;
}

static int file_watch_on_event(FileWatch *w, const struct inotify_event *e) {
        int node;

        if (e->mask & IN_Q_OVERFLOW)
                return on_overflow(w);
        node = watched_find(&w->dirs, e->wd);
        if (node == WATCHED_NONE || e->mask == 0)
                return 0;
        return e->len > 0 ? on_named(w, node, e) : on_nameless(w, node, e);
}

static int watch_run(FileWatch *w) {
        for (;;) {
                int r;

                if (w->begin == w->end)
                        w->begin = w->end = 0;
                if (w->end == 0) {
                        r = file_watch_fill(w, 0);
                        if (r == 0) {
                                /* Everything is reported: no event can come twice any more. */
                                hashset_done(&w->seen);
                                w->last.kind = 0;
                                r = file_watch_fill(w, -1);
                        }
                        if (r < 0)
                                return r;
                }
                while (w->begin < w->end) {
                        const struct inotify_event *e = event_at(w, w->begin);

                        w->begin += event_size(e);
                        r = file_watch_on_event(w, e);
                        if (r < 0)
                                return r;
                }
        }
}

/* A file is watched through its directory, since files are replaced more often than written into. */
static int watch_open(FileWatch *w, const FileRequest *q) {
        struct stat st;
        size_t n;

        if (stat(q->path, &st) < 0)
                return -errno;
        if ((q->flags & FILE_DIRECTORY) && !S_ISDIR(st.st_mode))
                return -ENOTDIR;
        (void) strcpy(w->top, q->path);
        n = strlen(w->top);
        while (n > 0 && w->top[n - 1] == '/')
                w->top[--n] = '\0';
        w->recursive = (q->flags & FILE_RECURSIVE) && S_ISDIR(st.st_mode);
        if (!S_ISDIR(st.st_mode)) {
                char *slash = strrchr(w->top, '/');

                if (!slash || strlen(slash + 1) > NAME_MAX)
                        return -EINVAL;
                (void) strcpy(w->only, slash + 1);
                *slash = '\0';
        }
        return file_watch_cover(w, WATCHED_NONE, "", /* report= */ false);
}

int op_watch(FileJob *job, uint64_t *ret_count) {
        static FileWatch w; /* a worker has one */
        _cleanup_close_ int inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        FileMessage stands = { .type = FILE_END };
        int r;

        if (inotify < 0)
                return -errno;
        w.job = job;
        watched_init(&w.dirs, inotify);
        r = watch_open(&w, job->request);
        if (r < 0)
                return r;
        stands.count = w.dirs.n;
        r = job_send(job, &stands, -EBADF);
        return r < 0 ? r : watch_run(&w);
}
