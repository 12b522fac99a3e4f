/* audit.h: the audit log: who did what, when, and with which outcome. Later changes to it are detected.
 *
 *      DIR/audit/audit-000001.jsonl   one record per line, oldest first
 *      DIR/audit/audit-000002.jsonl   …; a new one after audit.fileSize
 *      DIR/audit/head                 number and hash of the newest record, and where the oldest file begins
 *
 * Every record carries its own hash and that of the record before it (audit-chain.h). Changing, adding or removing a
 * record breaks the chain; cutting off its end leaves a head that points beyond it. The records of a turn
 * of the loop are written with one write(2) before any of its callers gets the answer, so the death of the process loses
 * none that anybody knows of. A crash of the machine may lose
 * the last seconds, and the next start notes that in a record. Bodies, keys, commands and environments are never
 * written.
 *
 * The file has disk space allocated ahead of its end (audit.reserve), so that on a full disk other writers fail first.
 * If a record still cannot be written, the security event "audit-failed" is raised once, calls that change something
 * are refused until writing works again, and the next record that can be written says how many were lost. With
 * audit.required off such calls go on unrecorded.
 * Must not know: HTTP, routes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/manager.h"
#include "observe/audit-chain.h"

typedef struct Audit Audit;

/* Also registers as a CoreObserver: sandboxes' lives, executions and security events are recorded from then on. */
int audit_new(Manager *m, Audit **ret, Error *reterr);
Audit *audit_free(Audit *a);

/* Strings may be NULL; long ones are cut. */
typedef struct AuditCall {
        const char *actor;    /* id of a key, "admin" (the token), "uid:1000" (the socket), "unknown" */
        const char *tenant;
        const char *remote;   /* "127.0.0.1:4711", "unix" */
        const char *method, *route, *path; /* route: as in the table of routes; path: as received, without the query */
        size_t path_max;      /* bytes of the path that are written; 0: the usual limit */
        const char *file;     /* the file concerned, inside the sandbox */
        const char *sandbox, *execution;
        unsigned status;      /* 0: the client left before there was an answer */
        usec_t duration_usec;
        bool reads;           /* GET, HEAD: recorded only with audit.reads, or if it was denied */
} AuditCall;

void audit_call(Audit *a, const AuditCall *call);

/* One record for `count` unauthenticated calls that were not recorded one by one. peers: how many peers made them;
 * text: the answers and the addresses. */
void audit_strangers(Audit *a, uint64_t count, uint64_t peers, const char *text);

/* False: audit.required is on and records cannot be written. After a failure a write is tried again first. */
bool audit_accepts(Audit *a);

typedef struct AuditStats {
        uint64_t records;      /* number of the newest */
        uint64_t written, lost; /* since the start */
        int error;             /* of the last record; 0: it was written */
        char hash[AUDIT_HASH_DIGITS + 1];
} AuditStats;

void audit_stats(const Audit *a, AuditStats *ret);
/* Both write what is pending first. */
void audit_head(Audit *a, AuditHead *ret);
int audit_directory(Audit *a); /* borrowed */

/* Called after each new record, until audit_unfollow(). */
typedef struct AuditFollower {
        void (*grown)(void *userdata);
        void *userdata;
        struct AuditFollower *prev, *next;
        Audit *audit;
} AuditFollower;

void audit_follow(Audit *a, AuditFollower *f);
void audit_unfollow(AuditFollower *f); /* does nothing on a zeroed one that never followed */
