/* book.h: build records: builds that get an id before they start.
 *
 *      1. build_record_new()     gives it an id, a name, tags and the resources of its sandboxes. The client may upload files then
 *      2. build_record_start()   starts a making (image/image.h) that does the work
 *      3. the end                points the tags at the image, or records the error
 *
 * Records are in the store, so that a tag can name its build, and its sandboxes get the resources given then.
 * A build that was running when the daemon ended has failed. The log is the making's, as lines with the time
 * at which each arrived; after a restart, the time of the build's end.
 * May use: build.h, image/image.h.
 * Must not know: HTTP, SQL. */
#pragma once

#include <uthash.h>

#include "build/build.h"

#define BUILD_ID_LENGTH   36   /* a UUID */
#define BUILD_TAGS_MAX    32
#define BUILD_RECORDS_MAX 5000 /* per tenant; beyond, its oldest that are not running are deleted */
#define BUILD_LINES_MAX   100000
#define BUILD_MAKING_SIZE 32

typedef enum BuildStatus { BUILD_WAITING, BUILD_RUNNING, BUILD_READY, BUILD_FAILED, _BUILD_STATUS_MAX } BuildStatus;
const char *build_status_name(int status); /* waiting, building, ready, error */
int build_status_from_name(const char *name);

typedef struct BuildLine {
        uint64_t offset;
        usec_t at;     /* wall clock */
        unsigned step; /* FROM is 1 */
} BuildLine;

typedef struct BuildRecord {
        char id[BUILD_ID_LENGTH + 1];
        char *tenant;          /* "": all tenants */
        char *name;            /* without a tag */
        Strv tags;             /* at least one */
        uint32_t cpu_milli;    /* 0: not given */
        uint64_t memory_bytes; /* 0: not given */
        char making[BUILD_MAKING_SIZE]; /* "": not started */
        int status;            /* BuildStatus */
        char *error;
        char digest[sizeof(((Image *) NULL)->digest)];
        usec_t created_at, ended_at;

        /* Not in the store. */
        Builds *builds;
        MakingWatch watch;
        BuildLine *lines;
        size_t n_lines, room;
        uint64_t scanned;      /* bytes of the log that have been split into lines */
        UT_hash_handle hh;     /* by id, in the order of creation */
} BuildRecord;

/* Copies its arguments. The caller checks the tags: valid, and at least one. -EDQUOT: too many builds are
 * running. */
int build_record_new(Builds *b, const char *tenant, const char *name, const Strv *tags, uint32_t cpu_milli, uint64_t memory_bytes, BuildRecord **ret, Error *reterr);
/* Takes the request's contents except for its name. -EALREADY: it was started before. */
int build_record_start(BuildRecord *record, const Principal *who, BuildRequest *request, Error *reterr);

BuildRecord *build_record_find(Builds *b, const char *id); /* of any tenant; NULL: not found */
/* The newest build with this result; NULL: none. */
const BuildRecord *build_record_of(Builds *b, const char *tenant, const char *name, const char *digest);
/* The newest first. tenant, name: NULL matches all. A negative return of `each` ends the walk. */
int build_records_each(Builds *b, const char *tenant, const char *name, int (*each)(BuildRecord *record, void *userdata), void *userdata);
/* Call it when a template is deleted, or with name NULL all templates of a tenant: cancels running builds,
 * and deletes the records. */
void build_records_forget(Builds *b, const char *tenant, const char *name);

/* Calls `each` for the lines of the log from number `from` on, at most `max`; returns the number of lines.
 * text: without the newline, and at most BUILD_LINE_MAX long. */
#define BUILD_LINE_MAX 4096
typedef void (*BuildLineEach)(const BuildLine *line, const char *text, size_t size, void *userdata);
size_t build_record_lines(BuildRecord *record, size_t from, size_t max, BuildLineEach each, void *userdata);

/* For builds_new() and builds_free(). */
int build_book_open(Builds *b, Error *reterr);
void build_book_close(Builds *b);
