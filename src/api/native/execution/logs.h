/* logs.h: what the files of GET …/logs share: what happened in a sandbox, with what its commands wrote in between.
 *
 * Events come from the store, output from the journals. A journal has no times, so the output of an execution stands before
 * its end, or, while it runs, behind everything else; who follows gets it as it comes.
 * Memory is bounded: a sandbox has a thousand events at most, and output passes through in pieces. */
#pragma once

#include "api/native/native.h"
#include "base/text.h"
#include "core/feed.h"

#define LOG_LINE_MAX ((size_t) 16 << 10) /* of output; a longer line is told in pieces */
#define LOG_TAIL_MAX 100000

typedef struct LogEvent {
        uint64_t serial; /* 0: none, for output */
        usec_t at;
        char *type, *execution, *text; /* the last two may be NULL */
} LogEvent;

void log_event_done(LogEvent *e);

/* What is to be told, the oldest first. */
typedef struct LogQueue {
        LogEvent *events;
        size_t n, room, first;
        uint64_t last_serial;
} LogQueue;

void log_queue_done(LogQueue *q);
/* What the store has beyond last_serial. */
int log_queue_load(LogQueue *q, const Manager *m, const char *sandbox_id, usec_t since);

/* What of its output is told: from here to there. */
typedef struct LogSpan {
        uint64_t from[_STREAM_MAX], to[_STREAM_MAX];
} LogSpan;

/* The output of one execution, while it is told. There may be hundreds: each feed rests. */
typedef struct LogOutput {
        Feed feed; /* first */
        usec_t started_at;
        bool stirred; /* there may be more to read than when it was looked at last */
        struct LogOutput *prev, *next; /* in the list of those that run */
} LogOutput;

/* NULL with 0: there is nothing of it (any more). */
int log_output_open(const Execution *x, const LogSpan *span, const FeedReader *reader, void *userdata, LogOutput **ret);
LogOutput *log_output_free(LogOutput *o);

/* Entries as text. */
void log_put_event(Text *t, const LogEvent *e, bool as_json);
/* 1: put some; 0: there is nothing for now, or ever: feed_drained() tells. */
int log_put_output(Text *t, LogOutput *o, bool as_json);
/* It was gone before all of it was told. */
void log_put_lost(Text *t, const LogOutput *o, bool as_json);

typedef struct LogPart {
        char id[EXECUTION_ID_MAX];
        LogSpan span;
} LogPart;
typedef struct LogParts {
        LogPart *items;
        size_t n;
} LogParts;

/* Where to begin for the last n entries: drops events from the queue, and says which part of the output of executions is
 * told. Those that are not named are told as a whole. Journals are looked through a slice at a time. */
typedef struct LogTail {
        uint64_t left;   /* entries that are still wanted */
        uint64_t budget; /* bytes that may still be looked at; 0: then it begins no earlier than where it has come */
        LogParts parts;  /* those of what runs are named from the beginning */
        size_t n_begun;  /* parts; of the last one … */
        ExecutionStream n_streams; /* … so many streams are still to be counted */
        size_t event;    /* from here on events are gone through */
        int fd;          /* of the stream that is being counted; -EBADF: none */
        uint64_t size, end;
} LogTail;

int log_tail_begin(LogTail *t, const LogQueue *q, const Sandbox *sb, uint64_t n);
int log_tail_slice(LogTail *t, LogQueue *q, Sandbox *sb); /* 1: there is more to do. sb may be NULL: it is gone */
void log_tail_done(LogTail *t); /* idempotent; also of one that is all zero */
