/* audit.h: who did what, when, and with which outcome, in a form that shows every later change.
 *
 *      DIR/audit/audit-000001.jsonl   one record per line, oldest first
 *      DIR/audit/audit-000002.jsonl   …; a new one after audit.fileSize
 *      DIR/audit/head                 number and hash of the newest record, and where the oldest file begins
 *
 * Every record carries the hash of the one before and its own (audit-chain.h): whoever changes, adds or removes one breaks the chain;
 * whoever cuts off its end leaves a head that points beyond it. A record is written with one write(2) before its caller gets the
 * answer, so the death of the process loses none; of the machine's it may lose the last seconds, and the next start says so in a
 * record of its own. Bodies, keys, commands and environments are never written.
 *
 * The file has space on disk ahead of its end (audit.reserve), so that a full disk does not end it: other writers fail first. A record that
 * cannot be written all the same: the number of lost records is in the next one that can be, a security event "audit-failed" is told once, and
 * calls that change something are refused until it works again. With audit.required off they go on unrecorded.
 * Must not know: HTTP, routes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/manager.h"
#include "observe/audit-chain.h"

typedef struct Audit Audit;

/* Also hangs itself in as an observer: lives, executions and security events are recorded from then on. */
int audit_new(Manager *m, Audit **ret, Error *reterr);
Audit *audit_free(Audit *a);

/* Strings may be NULL; what is too long is cut. */
typedef struct AuditCall {
        const char *actor;    /* id of a key, "admin" (the token), "uid:1000" (the socket), "unknown" */
        const char *tenant;
        const char *remote;   /* "127.0.0.1:4711", "unix" */
        const char *method, *route, *path; /* as in the table of routes; as it came, without the query */
        size_t path_max;      /* bytes of it that are written; 0: as many as ever */
        const char *file;     /* that it was about, inside the sandbox */
        const char *sandbox, *execution;
        unsigned status;      /* 0: the client left before there was an answer */
        usec_t duration_usec;
        bool reads;           /* GET, HEAD: left out unless audit.reads */
} AuditCall;

void audit_call(Audit *a, const AuditCall *call);

/* So many calls of those who proved nothing were not told one by one. peers: how many peers; text: with which answers, and from where. */
void audit_strangers(Audit *a, uint64_t count, uint64_t peers, const char *text);

/* False: audit.required, and records cannot be written; tried again first. */
bool audit_accepts(Audit *a);

typedef struct AuditStats {
        uint64_t records;      /* number of the newest */
        uint64_t written, lost; /* since the start */
        int error;             /* of the last record; 0: it was written */
        char hash[AUDIT_HASH_DIGITS + 1];
} AuditStats;

void audit_stats(const Audit *a, AuditStats *ret);
void audit_head(const Audit *a, AuditHead *ret);
int audit_directory(const Audit *a); /* stays ours */

/* Called after each new record, until it is taken out. */
typedef struct AuditFollower {
        void (*grown)(void *userdata);
        void *userdata;
        struct AuditFollower *prev, *next;
        Audit *audit;
} AuditFollower;

void audit_follow(Audit *a, AuditFollower *f);
void audit_unfollow(AuditFollower *f); /* also when it never followed */
