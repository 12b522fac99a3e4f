/* audit-chain.h: the format of audit records, the hash chain that they form, and reading the log's files in order.
 *
 *      {"seq":7,"prev":"<hash of 6>","at":"2025-01-31T12:00:00.000Z", … ,"hash":"<hash of 7>"}
 *
 * A record's hash is SHA-256 over the bytes of its line up to, and without, `,"hash":`. The prev of the first record is
 * all zeros. Quotes inside values are escaped, so `,"name":"` appears in a line only where a member begins: records
 * are searched as text.
 * The daemon and `cove audit --dir` share this code; each passes in the SHA-256 of its own library.
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
#define AUDIT_BASE "log-base" /* the oldest files are removed because of their age or size. "base": the last record in them */
#define AUDIT_ON   "log-on"   /* audit.enabled became true */
#define AUDIT_OFF  "log-off"  /* … or false */

/* Members of one line. -EBADMSG: not a record. */
typedef struct AuditRecord {
        uint64_t seq;
        char prev[AUDIT_HASH_DIGITS + 1], hash[AUDIT_HASH_DIGITS + 1];
        size_t hashed; /* bytes that the hash covers */
} AuditRecord;

int audit_record_read(const char *line, size_t size, AuditRecord *ret);

/* The value of a string member as it stands in the line, escapes included; NULL: no such member. */
const char *audit_record_text(const char *line, size_t size, const char *name, size_t *ret_size);
uint64_t audit_record_number(const char *line, size_t size, const char *name); /* 0: no such member */

/* The head. */
typedef struct AuditHead {
        uint64_t seq;  /* of the newest record; 0: none */
        char hash[AUDIT_HASH_DIGITS + 1];
        uint64_t base; /* number of the last record that was removed; 0: none was */
        char base_hash[AUDIT_HASH_DIGITS + 1];
} AuditHead;

extern const AuditHead audit_head_empty;
#define AUDIT_HEAD_SIZE 256 /* bytes of the file */
void audit_head_print(const AuditHead *h, char ret[AUDIT_HEAD_SIZE + 1]);
int audit_head_read(int dirfd, AuditHead *ret); /* -ENOENT, -EBADMSG */

/* The log's files in order. */
typedef struct AuditFiles {
        unsigned *numbers; /* ascending */
        size_t n;
} AuditFiles;

int audit_files_list(int dirfd, AuditFiles *ret);
void audit_files_done(AuditFiles *f);
void audit_file_name(unsigned number, char ret[32]);

/* Reads the lines of all files in order. */
typedef struct AuditReader {
        int dirfd; /* borrowed */
        AuditFiles files;
        size_t next;         /* index in files of the next one to open */
        unsigned number;     /* file being read */
        int fd;
        uint64_t line;       /* number of the last line returned, from 1 */
        uint64_t offset;     /* in the file, where that line begins */
        char *buffer;
        size_t begin, end, room;
        uint64_t position;   /* of the buffer's end in the file */
        bool partial;        /* the file before this one ended within a line */
} AuditReader;

#define AUDIT_READER_INIT { .dirfd = -EBADF, .fd = -EBADF }

int audit_reader_init(AuditReader *r, int dirfd);
void audit_reader_done(AuditReader *r);
/* 1: a line without its newline, valid until the next call. 0: no more for now. An unterminated line at the end does
 * not count as a line. audit_reader_again() finds files that were added since. -E2BIG: a line is longer than
 * AUDIT_RECORD_MAX. budget: reduced by the bytes that are read from disk; -EAGAIN when it is 0. */
int audit_reader_next(AuditReader *r, size_t *budget, const char **ret, size_t *ret_size);
int audit_reader_again(AuditReader *r);
/* Starts with the file that contains the record of this number. */
int audit_reader_seek(AuditReader *r, uint64_t seq);
/* Skips the oldest files, up to the first that was written at `since` or later. */
int audit_reader_skip_before(AuditReader *r, usec_t since);

/* Selects records. All zero: every record. */
typedef struct AuditFilter {
        char since[32], until[32]; /* since <= "at" < until, in the format of "at"; "": no bound */
        const char *sandbox, *actor;
        uint64_t after, last;      /* after < number <= last; 0: no bound */
} AuditFilter;

void audit_time_print(usec_t at, char ret[static 32]);
bool audit_filter_fits(const AuditFilter *f, const char *line, size_t size);

/* The result of a check. */
typedef struct AuditVerdict {
        bool intact;
        uint64_t records, first, last;
        char hash[AUDIT_HASH_DIGITS + 1]; /* of the last one */
        size_t n_files;
        uint64_t torn, lost; /* crashes that left half a record, and records that could not be written, as the chain notes them */
        /* The first problem; "" when intact. */
        char file[32];
        uint64_t line, seq;
        char problem[256];
} AuditVerdict;

typedef struct AuditVerifier {
        AuditHash hash;
        AuditReader reader;
        AuditHead head;
        AuditVerdict verdict;
        unsigned file;    /* number of the previous line's file */
        bool live;        /* the caller gave the head: records beyond it were written after the check began, and are not read */
        bool base_seen;   /* the record that explains the removal of the oldest was found */
        bool ended;
} AuditVerifier;

/* head: NULL to use the one in the directory. */
int audit_verify_begin(AuditVerifier *v, int dirfd, AuditHash hash, const AuditHead *head);
/* 1: to be called again. 0: the verdict is final. */
int audit_verify_slice(AuditVerifier *v, size_t budget);
void audit_verify_done(AuditVerifier *v);
