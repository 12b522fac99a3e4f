/* book.h: builds that are asked for before they begin.
 *
 *      1. build_record_new()     an id, a name with its tags, what sandboxes of it shall have. Whoever asked may send files meanwhile
 *      2. build_record_start()   it begins: a making (image/image.h) does the work
 *      3. its end                the tags point at what was made; or why not
 *
 * Kept in the store, so that a tag can say which build it came from, and a sandbox of it gets what was said then. One that was under way when the daemon ended has failed.
 * The log is the making's, line by line, each with the time at which it came; after a restart that of the build's end.
 * May use: build.h, image/image.h. Must not know: HTTP, SQL. */
#pragma once

#include <uthash.h>

#include "build/build.h"

#define BUILD_ID_LENGTH   36   /* a UUID */
#define BUILD_TAGS_MAX    32
#define BUILD_RECORDS_MAX 5000 /* of one tenant; then its oldest go, that nobody builds */
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
        char *tenant;          /* "": everybody's */
        char *name;            /* without a tag */
        Strv tags;             /* at least one */
        uint32_t cpu_milli;    /* 0: nothing was said */
        uint64_t memory_bytes; /* likewise */
        char making[BUILD_MAKING_SIZE]; /* "": has not begun */
        int status;            /* BuildStatus */
        char *error;
        char digest[sizeof(((Image *) NULL)->digest)];
        usec_t created_at, ended_at;

        /* Not in the store. */
        Builds *builds;
        MakingWatch watch;
        BuildLine *lines;
        size_t n_lines, room;
        uint64_t scanned;      /* bytes of the log that lines are known of */
        UT_hash_handle hh;     /* by id, in the order they were asked for */
} BuildRecord;

/* Takes nothing. tags: valid and not empty; they are the caller's to check. -EDQUOT: too many are under way. */
int build_record_new(Builds *b, const char *tenant, const char *name, const Strv *tags, uint32_t cpu_milli, uint64_t memory_bytes, BuildRecord **ret, Error *reterr);
/* Takes the request's contents, but for its name. -EALREADY: it has begun before. */
int build_record_start(BuildRecord *record, const Principal *who, BuildRequest *request, Error *reterr);

BuildRecord *build_record_find(Builds *b, const char *id); /* anybody's; NULL: none */
/* The newest that has made this; NULL: none. */
const BuildRecord *build_record_of(Builds *b, const char *tenant, const char *name, const char *digest);
/* The newest first. tenant, name: NULL: any. each < 0 ends it. */
int build_records_each(Builds *b, const char *tenant, const char *name, int (*each)(BuildRecord *record, void *userdata), void *userdata);
/* The template goes, or all of a tenant's (name NULL): what is under way for it ends, and nothing of its builds is kept. */
void build_records_forget(Builds *b, const char *tenant, const char *name);

/* Lines of the log from the n-th on, at most max; returns how many there were. text: without its end of line, and no longer than BUILD_LINE_MAX. */
#define BUILD_LINE_MAX 4096
typedef void (*BuildLineEach)(const BuildLine *line, const char *text, size_t size, void *userdata);
size_t build_record_lines(BuildRecord *record, size_t from, size_t max, BuildLineEach each, void *userdata);

/* For builds_new() and builds_free(). */
int build_book_open(Builds *b, Error *reterr);
void build_book_close(Builds *b);
