/* audit-chain.h: the form of an audit record and the chain they make; files of records, read one after the other.
 *
 *      {"seq":7,"prev":"<hash of 6>","at":"2025-01-31T12:00:00.000Z", … ,"hash":"<hash of 7>"}
 *
 * The hash of a record is SHA-256 over the bytes of its line up to and without `,"hash":`; the first one's prev is all zeros. Because
 * quotes inside of values are escaped, `,"name":"` appears in a line only where a member begins: records are searched as text.
 * The daemon and `cove audit --dir` use the same code; each brings the SHA-256 of the library that it has.
 * Must not know: what records are about, the loop. Knows base only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

#define AUDIT_HASH_SIZE   32
#define AUDIT_HASH_DIGITS 64
#define AUDIT_RECORD_MAX  16384 /* bytes of a line */
#define AUDIT_ZEROS       "0000000000000000000000000000000000000000000000000000000000000000"
#define AUDIT_HEAD_FILE   "head"

typedef void (*AuditHash)(const void *data, size_t size, uint8_t *ret); /* SHA-256 */

void audit_digest(AuditHash hash, const void *data, size_t size, char ret[AUDIT_HASH_DIGITS + 1]);

/* Kinds of records about the log itself. */
#define AUDIT_GAP  "log-gap"  /* the file ended before the head: records are missing. "lost": how many */
#define AUDIT_TORN "log-torn" /* an incomplete record was removed after a crash */
#define AUDIT_LOST "log-lost" /* records could not be written. "lost": how many */
#define AUDIT_BASE "log-base" /* the oldest files are removed because of their age or size. "base": the last record that goes */
#define AUDIT_ON   "log-on"   /* audit.enabled was set, or not any more */
#define AUDIT_OFF  "log-off"

/* Members of one line. -EBADMSG: not a record. */
typedef struct AuditRecord {
        uint64_t seq;
        char prev[AUDIT_HASH_DIGITS + 1], hash[AUDIT_HASH_DIGITS + 1];
        size_t hashed; /* bytes that the hash is over */
} AuditRecord;

int audit_record_read(const char *line, size_t size, AuditRecord *ret);

/* The text of a member that is a string, as it is in the line (escapes are left); NULL: it has none. */
const char *audit_record_text(const char *line, size_t size, const char *name, size_t *ret_size);
uint64_t audit_record_number(const char *line, size_t size, const char *name); /* 0: it has none */

/* The head. */
typedef struct AuditHead {
        uint64_t seq;  /* of the newest record; 0: none */
        char hash[AUDIT_HASH_DIGITS + 1];
        uint64_t base; /* number of the record before the oldest that is kept; 0: nothing was removed */
        char base_hash[AUDIT_HASH_DIGITS + 1];
} AuditHead;

extern const AuditHead audit_head_empty;
#define AUDIT_HEAD_SIZE 256 /* bytes of the file */
void audit_head_print(const AuditHead *h, char ret[AUDIT_HEAD_SIZE + 1]);
int audit_head_read(int dirfd, AuditHead *ret); /* -ENOENT, -EBADMSG */

/* Files of records in order. */
typedef struct AuditFiles {
        unsigned *numbers; /* ascending */
        size_t n;
} AuditFiles;

int audit_files_list(int dirfd, AuditFiles *ret);
void audit_files_done(AuditFiles *f);
void audit_file_name(unsigned number, char ret[32]);

/* One line after the other. */
typedef struct AuditReader {
        int dirfd; /* borrowed */
        AuditFiles files;
        size_t next;         /* file to be opened */
        unsigned number;     /* file being read */
        int fd;
        uint64_t line;       /* number of the last one given, from 1 */
        uint64_t offset;     /* where it began */
        char *buffer;
        size_t begin, end, room;
        uint64_t position;   /* of the buffer's end in the file */
        bool partial;        /* the file's last line has no end (yet) */
} AuditReader;

#define AUDIT_READER_INIT { .dirfd = -EBADF, .fd = -EBADF }

int audit_reader_init(AuditReader *r, int dirfd);
void audit_reader_done(AuditReader *r);
/* 1: a line, without its newline, good until the next call. 0: no more for now; a line without an end is no line yet, and files
 * that have come since are found by audit_reader_again(). -E2BIG: a line beyond AUDIT_RECORD_MAX. budget: is lowered by the bytes
 * that were read from disk; at 0 the answer is -EAGAIN. */
int audit_reader_next(AuditReader *r, size_t *budget, const char **ret, size_t *ret_size);
int audit_reader_again(AuditReader *r);
/* Begins with the file in which the record of this number is. */
int audit_reader_seek(AuditReader *r, uint64_t seq);
/* Leaves out files that were last written before. */
int audit_reader_skip_before(AuditReader *r, usec_t since);

/* Which records. Empty: all. */
typedef struct AuditFilter {
        char since[32], until[32]; /* as in "at" */
        const char *sandbox, *actor;
        uint64_t after, last;      /* numbers beyond the one, up to the other; 0: no bound */
} AuditFilter;

void audit_time_print(usec_t at, char ret[static 32]);
bool audit_filter_fits(const AuditFilter *f, const char *line, size_t size);

/* Checks line after line. */
typedef struct AuditVerdict {
        bool intact;
        uint64_t records, first, last;
        char hash[AUDIT_HASH_DIGITS + 1]; /* of the last one */
        size_t n_files;
        uint64_t torn, lost; /* crashes that left half a record, and records that could not be written: noted in the chain */
        /* What is wrong, first of all; "" when intact. */
        char file[32];
        uint64_t line, seq;
        char problem[256];
} AuditVerdict;

typedef struct AuditVerifier {
        AuditHash hash;
        AuditReader reader;
        AuditHead head;
        AuditVerdict verdict;
        unsigned file;    /* of the line before */
        bool live;        /* records beyond the head came after the check began, and are not looked at */
        bool base_seen;   /* the record that says why the oldest are not there */
        bool ended;
} AuditVerifier;

/* head NULL: the one in the directory. */
int audit_verify_begin(AuditVerifier *v, int dirfd, AuditHash hash, const AuditHead *head);
/* 1: goes on, 0: the verdict stands. */
int audit_verify_slice(AuditVerifier *v, size_t budget);
void audit_verify_done(AuditVerifier *v);
