/* segment.h: the output of all commands of a sandbox, in two files (base/segment.h).
 *
 * PID 1's shims write them. Here the index is read, once and in the order in which it grows, and what it says is counted
 * for each execution; a reader walks the records of its execution from the first one on. Both files are opened when they
 * are read; only those that were read last stay open.
 * The output of a removed execution is given back by holes. Before, its records lose their number: after a crash, a hole
 * must not be shown as bytes.
 * Must not know: masks, feeds, rows, who pays. */
#pragma once

#include "base/segment.h"
#include "core/execution.h"

typedef struct Segments Segments; /* of a manager */
typedef struct SegmentReader SegmentReader;

/* Names of the two files: these suffixes follow the sandbox's id. */
#define SEGMENT_DATA  ".data"
#define SEGMENT_INDEX ".index"

Segments *segments_new(int box_fd); /* the directory stays the caller's. NULL: no memory */
Segments *segments_free(Segments *s);

/* The sandbox's, without making files. NULL: no memory. Until the manager's end, or segment_drop(). */
struct Segment *segment_of(Sandbox *sb);
/* Its files exist, from before the daemon's start. */
int segment_found(Sandbox *sb);
/* The sandbox goes. What is read of it stays readable. */
void segment_drop(Sandbox *sb);

/* Before an execution gets its number: another copy of the store may know more executions than this one, and no number
 * is used twice. */
int segment_know(Sandbox *sb);
/* Reads what is new in the index, or much of it, and the rest in the next calls. -EAGAIN: there is a rest of what was
 * there at the daemon's start. -ENODATA: the file is gone. */
int segment_scan(Sandbox *sb);
/* The same, if the index has grown, at most once in a round of looks. Closes what was not used since the last one. */
void segment_look(Sandbox *sb, uint64_t round);

/* Wakes the followers of the sandbox's executions (execution_tell()) whenever one of them has written. */
int segment_follow(Execution *x);
void segment_unfollow(Execution *x);

/* The output of that execution is not needed any more: its space is given back, with that of others. The execution may be
 * freed after the call. */
void segment_give_back(Execution *x);

/* Readers. One must be closed before the manager is freed. -ENODATA: the files are gone. */
int segment_open(const Execution *x, ExecutionStream stream, SegmentReader **ret);
SegmentReader *segment_close(SegmentReader *r);
/* Like pread() of the stream, but all that there is up to size. */
ssize_t segment_read(SegmentReader *r, void *buffer, size_t size, uint64_t offset);
usec_t segment_time(SegmentReader *r, uint64_t offset); /* of the piece with that byte; 0: none */
uint64_t segment_place(SegmentReader *r, uint64_t offset); /* of its record in the index; 0: none */
/* A descriptor of the data, for the caller to close, and where the bytes from..to are in it. -ENXIO: not in one piece. */
int segment_piece(SegmentReader *r, uint64_t from, uint64_t to, uint64_t *ret_position);
