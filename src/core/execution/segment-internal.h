/* segment-internal.h: what the parts of segment.h share. */
#pragma once

#include <systemd/sd-event.h>

#include "core/execution/segment.h"

#define SEGMENT_NAME_BYTES (SANDBOX_ID_LENGTH + 8)

typedef enum SegmentFile {
        SEGMENT_FILE_DATA,
        SEGMENT_FILE_INDEX,
        _SEGMENT_FILE_MAX,
} SegmentFile;

typedef struct Segment {
        Segments *all;
        Sandbox *sandbox; /* NULL: it is gone; the readers share the rest, which ends with the last of them */
        int fds[_SEGMENT_FILE_MAX]; /* for reading; -EBADF: not open */
        bool listed;      /* among those that are open */
        bool used;        /* since the last look */
        uint64_t round;   /* of the last look */

        uint64_t scanned; /* bytes of the index that are counted */
        bool looked;      /* once to the end */
        uint64_t strange_from, strange_to; /* numbers above the first, up to the second, are executions that only another copy of the store knew */

        uint64_t gone_bytes, gone_from, gone_to; /* given back by executions, and where their records are; not given back to the disk yet */

        sd_event_source *watch; /* of the index; stays for a while after the last follower */
        Execution *followed;
        SegmentReader *readers;
        struct Segment *prev, *next; /* of those that are open */
} Segment;

struct Segments {
        int box_fd;
        Segment *open;
        unsigned n_open;
};

struct SegmentReader {
        Segment *segment;
        uint64_t number;
        uint32_t stream;
        bool gone; /* its execution has given its output back, which waits for this reader */
        uint64_t bytes, last; /* what waits, as at the time */
        uint64_t first;      /* place in the index from where on it has records */
        uint64_t at, offset; /* a place in the index, and the bytes of the stream before it */
        struct SegmentMark {
                uint64_t at, offset;
        } *marks; /* places on the way, for reading backwards */
        size_t n_marks;
        SegmentRecord *window; /* of the index, from window_at on */
        uint64_t window_at;
        size_t n_window;
        SegmentReader *prev, *next;
};

void segment_name(const Segment *g, SegmentFile file, char ret[static SEGMENT_NAME_BYTES]);
/* The open file, which stays the segment's. -ENODATA. */
int segment_file(Segment *g, SegmentFile file);
int segment_open_to_write(const Segment *g, SegmentFile file); /* for the caller to close */
void segment_shut(Segment *g);
bool segment_is_blank(const SegmentRecord *records, size_t n);
/* The next place of the index with data, or its end: it may have holes of any size. */
uint64_t segment_after_hole(int fd, uint64_t at);
void segment_reader_left(Segment *g); /* may free it */
void segment_add_gone(Segment *g, uint64_t bytes, uint64_t first, uint64_t last);
