/* logs.h: shared by the files of GET …/logs: the events of a sandbox, interleaved with the output of its
 * commands.
 *
 * Events come from the store, output from where it lies (core/output.h). The output of an execution is placed before its
 * end event, its lines in the order of the output; while it runs, after everything else. A following client gets it as it
 * arrives. Memory is bounded: a sandbox has at most a thousand events, and output is passed on in pieces. */
#pragma once

#include "api/native/native.h"
#include "base/text.h"
#include "core/feed.h"

#define LOG_LINE_MAX ((size_t) 16 << 10) /* of output; a longer line is split */
#define LOG_TAIL_MAX 100000
#define LOG_TAIL_ALL UINT64_MAX

typedef struct LogEvent {
        uint64_t serial; /* 0: output, which has none */
        usec_t at;
        char *type, *execution, *text; /* execution and text may be NULL */
} LogEvent;

void log_event_done(LogEvent *e);

/* The events to send, the oldest first. */
typedef struct LogQueue {
        LogEvent *events;
        size_t n, room, first;
        uint64_t last_serial;
} LogQueue;

void log_queue_done(LogQueue *q);
/* Adds the events after last_serial from the store. */
int log_queue_load(LogQueue *q, const Manager *m, const char *sandbox_id, usec_t since);

/* The range of each stream to send. */
typedef struct LogSpan {
        uint64_t from[_STREAM_MAX], to[_STREAM_MAX];
} LogSpan;

/* The output of one execution, while it is sent. There may be hundreds: each feed rests
 * between reads. */
typedef struct LogOutput {
        Feed feed; /* must be the first member */
        usec_t started_at;
        bool stirred; /* there may be new output since the last look */
        struct LogOutput *prev, *next; /* in the list of running executions */
} LogOutput;

/* NULL with 0: there is no output, or none any more. */
int log_output_open(const Execution *x, const LogSpan *span, const FeedReader *reader, void *userdata, LogOutput **ret);
LogOutput *log_output_free(LogOutput *o);

/* Write entries as text. */
void log_put_event(Text *t, const LogEvent *e, bool as_json);
/* Returns 1 if it wrote something; 0: nothing for now, or at the end: see feed_drained(). */
int log_put_output(Text *t, LogOutput *o, bool as_json);
/* Reports that output was deleted before all of it was sent. */
void log_put_lost(Text *t, const LogOutput *o, bool as_json);

typedef struct LogPart {
        char id[EXECUTION_ID_MAX];
        LogSpan span;
} LogPart;
typedef struct LogParts {
        LogPart *items;
        size_t n;
} LogParts;

/* A stream that is read backwards. */
typedef struct LogBack {
        OutputReader *output; /* NULL: there is none, or all is counted */
        uint64_t size, end;   /* what is before `end` has not been read */
        struct LogStart {
                uint64_t offset, place;
        } *starts;            /* of lines that have been read, and are not counted yet */
        size_t n_starts, room;
} LogBack;

/* Finds the start of the last n entries that are not older than `since`: drops earlier events from the queue, and records
 * the parts of output to send. Executions that are not listed in `parts` are sent whole. Journals are searched one slice at a
 * time. */
typedef struct LogTail {
        uint64_t left;   /* entries still missing; LOG_TAIL_ALL: all of that time */
        usec_t since;
        uint64_t budget; /* bytes that may still be read; at 0 the tail starts at the current position */
        LogParts parts;  /* running executions are listed from the start */
        size_t n_begun;  /* number of parts in progress; of the last one … */
        LogBack streams[_STREAM_MAX]; /* … the lines that are still uncounted */
        size_t event;    /* events before this index are still to be searched */
} LogTail;

/* only: of this execution; NULL: of all. */
int log_tail_begin(LogTail *t, const LogQueue *q, const Sandbox *sb, const Execution *only, uint64_t n, usec_t since);
int log_tail_slice(LogTail *t, LogQueue *q, Sandbox *sb); /* 1: there is more to do. sb NULL: it is gone */
void log_tail_done(LogTail *t); /* may be called twice, or on a zeroed LogTail */
