#include "core/execution/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "base/fd.h"
#include "core/execution/segment-internal.h"
#include "core/internal.h"

#define OPEN_MAX_SEGMENTS 16 /* of which both files may stay open: part of the daemon's own descriptors (daemon/files.c) */
#define NUMBER_MAX        (UINT64_C(1) << 62)
#define SCAN_MAX          ((size_t) 256 << 20) /* bytes of the index that are read at once: PID 1 may write any number of records */

Segments *segments_new(int box_fd) {
        Segments *s = calloc(1, sizeof(*s));

        if (s)
                s->box_fd = box_fd;
        return s;
}

Segments *segments_free(Segments *s) {
        free(s);
        return NULL;
}

Segment *segment_of(Sandbox *sb) {
        if (sb->segment)
                return sb->segment;
        sb->segment = calloc(1, sizeof(*sb->segment));
        if (!sb->segment)
                return NULL;
        *sb->segment = (Segment) { .all = sb->manager->segments, .sandbox = sb, .fds = { -EBADF, -EBADF }, .looked = true };
        return sb->segment;
}

int segment_found(Sandbox *sb) {
        Segment *g = segment_of(sb);

        if (!g)
                return -ENOMEM;
        g->looked = false;
        return 0;
}

/* Files. */

void segment_name(const Segment *g, SegmentFile file, char ret[static SEGMENT_NAME_BYTES]) {
        (void) snprintf(ret, SEGMENT_NAME_BYTES, "%s%s", g->sandbox->id, file == SEGMENT_FILE_DATA ? SEGMENT_DATA : SEGMENT_INDEX);
}

void segment_shut(Segment *g) {
        for (SegmentFile f = 0; f < _SEGMENT_FILE_MAX; f++)
                g->fds[f] = fd_close(g->fds[f]);
        if (!g->listed)
                return;
        DL_DELETE(g->all->open, g);
        g->all->n_open--;
        g->listed = false;
}

/* The one that was used last is the last. */
static void segment_list(Segment *g) {
        if (g->listed) {
                DL_DELETE(g->all->open, g);
                g->all->n_open--;
        } else if (g->all->n_open >= OPEN_MAX_SEGMENTS)
                segment_shut(g->all->open);
        DL_APPEND(g->all->open, g);
        g->all->n_open++;
        g->listed = true;
}

int segment_file(Segment *g, SegmentFile file) {
        char name[SEGMENT_NAME_BYTES];

        g->used = true;
        if (!g->sandbox) /* only readers are left, and its files have no names */
                return g->fds[file] < 0 ? -ENODATA : g->fds[file];
        if (g->fds[file] < 0) {
                segment_name(g, file, name);
                g->fds[file] = openat(g->all->box_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        }
        if (g->fds[file] < 0)
                return errno == ENOENT ? -ENODATA : -errno;
        segment_list(g);
        return g->fds[file];
}

static void segment_free(Segment *g) {
        segment_shut(g);
        sd_event_source_disable_unref(g->watch);
        free(g);
}

void segment_drop(Sandbox *sb) {
        Segment *g = sb->segment;

        if (!g)
                return;
        sb->segment = NULL;
        for (SegmentFile f = 0; g->readers && f < _SEGMENT_FILE_MAX; f++)
                (void) segment_file(g, f); /* what cannot be opened is lost to them */
        if (g->listed) {
                DL_DELETE(g->all->open, g);
                g->all->n_open--;
                g->listed = false;
        }
        g->watch = sd_event_source_disable_unref(g->watch);
        while (g->followed)
                segment_unfollow(g->followed);
        g->sandbox = NULL;
        if (!g->readers)
                segment_free(g);
}

void segment_reader_left(Segment *g) {
        if (!g->sandbox && !g->readers)
                segment_free(g);
}

/* Counting. */

static void segment_count(Segment *g, Execution **cached, const SegmentRecord *record, uint64_t at) {
        Execution *x = *cached && (*cached)->number == record->exec ? *cached : NULL;

        if (record->exec == 0 || record->size > SEGMENT_PIECE_MAX || record->stream >= _STREAM_MAX)
                return;
        if (!x)
                x = *cached = execution_by_number(g->sandbox, record->exec);
        if (!x) {
                if (!g->looked && record->exec > g->sandbox->last_execution && record->exec < NUMBER_MAX)
                        g->strange_to = MAX_OF(g->strange_to, record->exec);
                return;
        }
        if (x->has_files)
                return;
        if (x->pieces.n++ == 0)
                x->pieces.first = at;
        x->pieces.last = at;
        x->pieces.bytes[record->stream] += record->size;
}

bool segment_is_blank(const SegmentRecord *records, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (records[i].exec != 0)
                        return false;
        return true;
}

/* The size is read first: what is appended meanwhile is behind it. */
uint64_t segment_after_hole(int fd, uint64_t at) {
        struct stat st;
        off_t data;

        if (fstat(fd, &st) < 0)
                return at;
        data = lseek(fd, (off_t) at, SEEK_DATA);
        if (data < 0 && errno == ENXIO)
                data = st.st_size;
        return data < 0 ? at : MAX_OF(at, (uint64_t) data / sizeof(SegmentRecord) * sizeof(SegmentRecord));
}

static bool segment_has(const SegmentRecord *record, uint64_t size) {
        return record->size <= size && record->position <= size - record->size;
}

/* After a crash of the machine the index may have records of bytes that the data does not. They lose their number, or else
 * they would show what is written there next. A shim writes the bytes first, so of a running one there is none. */
static int segment_drop_lost(Segment *g, SegmentRecord *block, size_t n) {
        int data_fd = segment_file(g, SEGMENT_FILE_DATA);
        _cleanup_close_ int fd = -EBADF;
        size_t first = n, end = 0, bytes;
        struct stat st;

        if (data_fd < 0 || fstat(data_fd, &st) < 0)
                return data_fd == -ENODATA ? 0 : data_fd < 0 ? data_fd : -errno;
        for (size_t i = 0; i < n; i++) {
                if (block[i].exec == 0 || segment_has(block + i, (uint64_t) st.st_size))
                        continue;
                block[i].exec = 0;
                first = MIN_OF(first, i);
                end = i + 1;
        }
        if (first >= end)
                return 0;
        fd = segment_open_to_write(g, SEGMENT_FILE_INDEX);
        if (fd < 0)
                return fd;
        bytes = (end - first) * sizeof(*block);
        return pwrite(fd, block + first, bytes, (off_t) (g->scanned + first * sizeof(*block))) == (ssize_t) bytes ? 0 : -EIO;
}

static int segment_scan_block(Segment *g, Execution **cached, SegmentRecord *block, size_t n) {
        int r = g->looked ? 0 : segment_drop_lost(g, block, n);

        for (size_t i = 0; i < n && r >= 0; i++) {
                segment_count(g, cached, block + i, g->scanned);
                g->scanned += sizeof(*block);
        }
        return r;
}

/* 1: there is more. */
static int segment_scan_on(Segment *g, int fd) {
        static SegmentRecord block[2048];
        Execution *cached = NULL;

        for (size_t i = 0; i < SCAN_MAX / sizeof(block); i++) {
                ssize_t n = pread(fd, block, sizeof(block), (off_t) g->scanned);
                size_t count = n > 0 ? (size_t) n / sizeof(*block) : 0;
                int r = n < 0 ? -errno : segment_scan_block(g, &cached, block, count);

                if (r < 0)
                        return r;
                if (n < (ssize_t) sizeof(block))
                        return 0;
                if (segment_is_blank(block, count))
                        g->scanned = segment_after_hole(fd, g->scanned);
        }
        return 1;
}

int segment_scan(Sandbox *sb) {
        Segment *g = sb->segment;
        int fd, r;

        if (!g)
                return 0;
        fd = segment_file(g, SEGMENT_FILE_INDEX);
        if (fd < 0)
                return fd;
        r = segment_scan_on(g, fd);
        if (r == 0 && !g->looked) {
                g->looked = true;
                g->strange_from = sb->last_execution;
                sb->last_execution = MAX_OF(sb->last_execution, g->strange_to);
        }
        return r <= 0 ? r : g->looked ? 0 : -EAGAIN;
}

int segment_know(Sandbox *sb) {
        int r = sb->segment && !sb->segment->looked ? segment_scan(sb) : 0;

        return r == -ENODATA ? 0 : r;
}

void segment_look(Sandbox *sb, uint64_t round) {
        char name[SEGMENT_NAME_BYTES];
        Segment *g = sb->segment;
        struct stat st;

        if (!g || g->round == round)
                return;
        g->round = round;
        if (!g->used && !g->followed)
                g->watch = sd_event_source_disable_unref(g->watch);
        if (!g->used)
                segment_shut(g);
        segment_name(g, SEGMENT_FILE_INDEX, name);
        if (fstatat(g->all->box_fd, name, &st, AT_SYMLINK_NOFOLLOW) >= 0 && (uint64_t) st.st_size >= g->scanned + sizeof(SegmentRecord))
                (void) segment_scan(sb);
        g->used = false;
}

/* Following. */

/* A follower may stop to follow, and others with it, when it is told: so nothing is remembered between two of them. */
static int segment_on_index(sd_event_source *source, const struct inotify_event *event, void *userdata) {
        Sandbox *sb = userdata;
        const Execution *x;
        size_t n = 0;

        for (x = sb->segment ? sb->segment->followed : NULL; x; x = x->followed_next)
                n++;
        while (n-- > 0 && sb->segment && sb->segment->followed) {
                Execution *first = sb->segment->followed;

                DL_DELETE2(sb->segment->followed, first, followed_prev, followed_next);
                DL_APPEND2(sb->segment->followed, first, followed_prev, followed_next);
                execution_tell(first);
        }
        return 0;
}

int segment_follow(Execution *x) {
        Segment *g = x->sandbox->segment;
        int fd, r;

        if (!g || x->followed)
                return 0;
        g->used = true;
        if (!g->watch) {
                fd = segment_file(g, SEGMENT_FILE_INDEX);
                if (fd < 0)
                        return fd;
                r = sd_event_add_inotify_fd(x->sandbox->manager->event, &g->watch, fd, IN_MODIFY, segment_on_index, x->sandbox);
                if (r < 0)
                        return r;
        }
        DL_APPEND2(g->followed, x, followed_prev, followed_next);
        x->followed = true;
        return 0;
}

void segment_unfollow(Execution *x) {
        if (!x->followed)
                return;
        DL_DELETE2(x->sandbox->segment->followed, x, followed_prev, followed_next);
        x->followed = false;
}
