/* segment-read.c: reads an execution's output from the segment of its sandbox, and gives it back. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "base/array.h"
#include "base/fd.h"
#include "core/execution/segment-internal.h"
#include "core/internal.h"

#define WINDOW     128  /* records that are read at once */
#define MARK_BYTES (4096 * sizeof(SegmentRecord)) /* of the index, between two marks of a reader */
#define GIVE_BYTES (UINT64_C(64) << 10) /* less is given back later, with more */
#define PAGE       4096 /* holes have whole pages; those of a larger page size take no effect */
#define NEIGHBOURS (2 * PAGE) /* of the index: what shares a page with what was given back before */

int segment_open(const Execution *x, ExecutionStream stream, SegmentReader **ret) {
        Segment *g = x->sandbox->segment;
        SegmentReader *r;

        if (!g->looked) {
                int k = segment_scan(x->sandbox);
                if (k < 0)
                        return k;
        }
        r = calloc(1, sizeof(*r));
        if (!r)
                return -ENOMEM;
        r->segment = g;
        r->number = x->number;
        r->stream = stream;
        r->first = r->at = x->pieces.n > 0 ? x->pieces.first : g->scanned;
        DL_APPEND(g->readers, r);
        *ret = r;
        return 0;
}

static bool segment_is_read(const Segment *g, uint64_t number) {
        const SegmentReader *r;

        DL_FOREACH(g->readers, r)
                if (r->number == number)
                        return true;
        return false;
}

SegmentReader *segment_close(SegmentReader *r) {
        Segment *g;

        if (!r)
                return NULL;
        g = r->segment;
        DL_DELETE(g->readers, r);
        if (r->gone && g->sandbox && !segment_is_read(g, r->number))
                segment_add_gone(g, r->bytes, r->first, r->last);
        segment_reader_left(g);
        free(r->marks);
        free(r->window);
        free(r);
        return NULL;
}

/* Walking. */

/* The index has nothing of its execution from there on. */
static uint64_t reader_end(const SegmentReader *r) {
        const Segment *g = r->segment;
        const Execution *x = g->sandbox && !r->gone ? execution_by_number(g->sandbox, r->number) : NULL;

        if (r->gone)
                return r->last + sizeof(SegmentRecord);
        return x && x->pieces.n > 0 ? x->pieces.last + sizeof(SegmentRecord) : g->scanned;
}

static int reader_fill(SegmentReader *r) {
        uint64_t end = reader_end(r);
        int fd = segment_file(r->segment, SEGMENT_FILE_INDEX);

        if (fd < 0)
                return fd;
        if (!r->window)
                r->window = calloc(WINDOW, sizeof(*r->window));
        if (!r->window)
                return -ENOMEM;
        for (r->n_window = 0; r->at < end; r->at = segment_after_hole(fd, r->at + r->n_window * sizeof(SegmentRecord))) {
                ssize_t n = pread(fd, r->window, (size_t) MIN_OF(WINDOW * sizeof(*r->window), end - r->at), (off_t) r->at);

                r->window_at = r->at;
                r->n_window = n > 0 ? (size_t) n / sizeof(SegmentRecord) : 0;
                if (n < 0)
                        return -errno;
                if (r->n_window == 0 || !segment_is_blank(r->window, r->n_window))
                        break;
        }
        return 0;
}

/* 1: there is a record at r->at, and *ret points to it until the next call. 0: the end. */
static int reader_record(SegmentReader *r, const SegmentRecord **ret) {
        if (r->at < r->window_at || r->at >= r->window_at + r->n_window * sizeof(SegmentRecord)) {
                int k = reader_fill(r);

                if (k < 0)
                        return k;
                if (r->n_window == 0 || r->at != r->window_at)
                        return 0;
        }
        *ret = r->window + (r->at - r->window_at) / sizeof(SegmentRecord);
        return 1;
}

static bool reader_owns(const SegmentReader *r, const SegmentRecord *record) {
        return record->exec == r->number && record->stream == r->stream && record->size <= SEGMENT_PIECE_MAX;
}

static int reader_mark(SegmentReader *r) {
        uint64_t last = r->n_marks > 0 ? r->marks[r->n_marks - 1].at : r->first;

        if (r->at < last + MARK_BYTES)
                return 0;
        if (ARRAY_EXTEND(r->marks, r->n_marks) < 0)
                return -ENOMEM;
        r->marks[r->n_marks++] = (struct SegmentMark) { r->at, r->offset };
        return 0;
}

static void reader_back(SegmentReader *r, uint64_t offset) {
        size_t n = r->n_marks;

        if (offset >= r->offset)
                return;
        while (n > 0 && r->marks[n - 1].offset > offset)
                n--;
        r->at = n > 0 ? r->marks[n - 1].at : r->first;
        r->offset = n > 0 ? r->marks[n - 1].offset : 0;
}

/* Goes to the record with the byte at `offset`. 0: there is none yet. */
static int reader_seek(SegmentReader *r, uint64_t offset, const SegmentRecord **ret) {
        int k;

        reader_back(r, offset);
        while ((k = reader_record(r, ret)) > 0) {
                if (reader_owns(r, *ret) && offset < r->offset + (*ret)->size)
                        return 1;
                k = reader_mark(r);
                if (k < 0)
                        return k;
                r->offset += reader_owns(r, *ret) ? (*ret)->size : 0;
                r->at += sizeof(SegmentRecord);
        }
        return k;
}

/* The bytes from `offset` on that are in one piece of the data, at most size: 0: none yet. */
static ssize_t reader_run(SegmentReader *r, uint64_t offset, uint64_t size, uint64_t *ret_position) {
        const SegmentRecord *record;
        uint64_t position = 0, found = 0;
        int k = 0;

        while (found < size && (k = reader_seek(r, offset + found, &record)) > 0) {
                uint64_t into = offset + found - r->offset;

                if (found > 0 && record->position + into != position + found)
                        break;
                if (found == 0)
                        position = record->position + into;
                found += MIN_OF((uint64_t) record->size - into, size - found);
        }
        if (k < 0 && found == 0)
                return k;
        *ret_position = position;
        return (ssize_t) found;
}

static ssize_t segment_read_data(Segment *g, void *buffer, size_t size, uint64_t position) {
        int fd = segment_file(g, SEGMENT_FILE_DATA);
        size_t done = 0;

        if (fd < 0)
                return fd;
        while (done < size) {
                ssize_t n = pread(fd, (char *) buffer + done, size - done, (off_t) (position + done));

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                done += (size_t) n;
        }
        return (ssize_t) done;
}

ssize_t segment_read(SegmentReader *r, void *buffer, size_t size, uint64_t offset) {
        size_t done = 0;

        while (done < size) {
                uint64_t position;
                ssize_t want = reader_run(r, offset + done, size - done, &position), n;

                if (want <= 0)
                        return want < 0 && done == 0 ? want : (ssize_t) done;
                n = segment_read_data(r->segment, (char *) buffer + done, (size_t) want, position);
                if (n < 0)
                        return done == 0 ? n : (ssize_t) done;
                done += (size_t) n;
                if (n < want) /* the data is shorter than the index says */
                        break;
        }
        return (ssize_t) done;
}

usec_t segment_time(SegmentReader *r, uint64_t offset) {
        const SegmentRecord *record;

        return reader_seek(r, offset, &record) > 0 ? MIN_OF(record->time_usec, clock_wall_usec()) : 0;
}

uint64_t segment_place(SegmentReader *r, uint64_t offset) {
        const SegmentRecord *record;

        return reader_seek(r, offset, &record) > 0 ? r->at : 0;
}

int segment_piece(SegmentReader *r, uint64_t from, uint64_t to, uint64_t *ret_position) {
        ssize_t n = reader_run(r, from, to - from, ret_position);
        int fd;

        if (n < 0)
                return (int) n;
        if ((uint64_t) n < to - from)
                return -ENXIO;
        fd = segment_file(r->segment, SEGMENT_FILE_DATA);
        if (fd < 0)
                return fd;
        fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        return fd < 0 ? -errno : fd;
}

/* Giving back. */

typedef struct Hole {
        int fd;
        uint64_t from, to;
} Hole;

static void hole_make(Hole *h, uint64_t keep) {
        uint64_t from = (h->from + PAGE - 1) / PAGE * PAGE, to = h->to / PAGE * PAGE;

        to = to > keep ? to - keep : 0;
        if (from < to)
                (void) fallocate(h->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t) from, (off_t) (to - from));
        h->from = h->to = 0;
}

static void hole_extend(Hole *h, uint64_t from, uint64_t size, uint64_t keep) {
        if (h->to != from)
                hole_make(h, keep);
        if (h->to == 0)
                h->from = from;
        h->to = from + size;
}

/* Output of executions that are not known here any more, except of those that another copy of the store knows. */
static bool number_is_gone(const Segment *g, uint64_t number) {
        const Execution *x = execution_by_number(g->sandbox, number);

        if (segment_is_read(g, number))
                return false;
        return x ? x->journals_gone : number <= g->strange_from || number > g->strange_to;
}

/* A record without a number keeps the place of its bytes: what is given back next may share a page with it. Writes
 * nothing else: that would fill the holes again. */
static int records_forget(const Segment *g, int fd, SegmentRecord *block, size_t n, uint64_t at) {
        size_t first = n, end = 0;
        uint64_t number = 0;
        bool gone = false;

        for (size_t i = 0; i < n; i++) {
                if (block[i].exec == 0)
                        continue;
                if (block[i].exec != number) {
                        number = block[i].exec;
                        gone = number_is_gone(g, number);
                }
                if (!gone)
                        continue;
                block[i].exec = 0;
                first = MIN_OF(first, i);
                end = i + 1;
        }
        if (first >= end)
                return 0;
        n = (end - first) * sizeof(*block);
        return pwrite(fd, block + first, n, (off_t) (at + first * sizeof(*block))) == (ssize_t) n ? 0 : -EIO;
}

static int records_give_back(const Segment *g, Hole *data, Hole *index, uint64_t from, uint64_t to) {
        SegmentRecord block[512];

        while (from < to) {
                ssize_t n = pread(index->fd, block, (size_t) MIN_OF(sizeof(block), to - from), (off_t) from);
                size_t count = n > 0 ? (size_t) n / sizeof(*block) : 0;
                bool blank = segment_is_blank(block, count);

                if (count == 0)
                        return n < 0 ? -errno : 0;
                if (records_forget(g, index->fd, block, count, from) < 0)
                        return -EIO;
                for (size_t i = 0; i < count; i++, from += sizeof(*block)) {
                        if (block[i].exec != 0)
                                continue;
                        hole_extend(index, from, sizeof(*block), PAGE);
                        if (block[i].size > 0 && block[i].size <= SEGMENT_PIECE_MAX)
                                hole_extend(data, block[i].position, block[i].size, /* keep= */ 0);
                }
                if (blank)
                        from = segment_after_hole(index->fd, from);
        }
        return 0;
}

int segment_open_to_write(const Segment *g, SegmentFile file) {
        char name[SEGMENT_NAME_BYTES];
        int fd;

        segment_name(g, file, name);
        fd = openat(g->all->box_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

static void segment_make_holes(Segment *g) {
        _cleanup_close_ int data_fd = segment_open_to_write(g, SEGMENT_FILE_DATA), index_fd = segment_open_to_write(g, SEGMENT_FILE_INDEX);
        Hole data = { .fd = data_fd }, index = { .fd = index_fd };

        if (data_fd < 0 || index_fd < 0)
                return;
        if (records_give_back(g, &data, &index, g->gone_from > NEIGHBOURS ? g->gone_from - NEIGHBOURS : 0,
                            MIN_OF(g->gone_to + NEIGHBOURS, g->scanned)) < 0)
                return;
        hole_make(&data, /* keep= */ 0);
        hole_make(&index, PAGE);
}

void segment_add_gone(Segment *g, uint64_t bytes, uint64_t first, uint64_t last) {
        if (g->gone_bytes == 0) {
                g->gone_from = first;
                g->gone_to = last;
        }
        g->gone_bytes += bytes;
        g->gone_from = MIN_OF(g->gone_from, first);
        g->gone_to = MAX_OF(g->gone_to, last + sizeof(SegmentRecord));
        if (g->gone_bytes < GIVE_BYTES)
                return;
        segment_make_holes(g);
        g->gone_bytes = 0;
}

void segment_give_back(Execution *x) {
        Segment *g = x->sandbox->segment;
        uint64_t bytes = x->pieces.bytes[STREAM_STDOUT] + x->pieces.bytes[STREAM_STDERR] + x->pieces.n * sizeof(SegmentRecord);
        SegmentReader *r;

        if (!g || x->pieces.n == 0)
                return;
        if (!segment_is_read(g, x->number)) {
                segment_add_gone(g, bytes, x->pieces.first, x->pieces.last);
                return;
        }
        DL_FOREACH(g->readers, r)
                if (r->number == x->number) {
                        r->gone = true;
                        r->bytes = bytes;
                        r->last = x->pieces.last;
                }
}
