/* audit.h: shared by the files of `cove audit`. */
#pragma once

#include "client/ask.h"

/* audit-log.c: the log, from a daemon or from a directory: verify, export, ls, tail. */
#define AUDIT_DIR_OPTION { "dir", 'd', "DIR", "read this directory instead of asking a daemon", OPTION_TEXT(AuditOptions, dir) }
#define AUDIT_FILTER_OPTIONS                                                                                                              \
        { "since",   0, "TIME",  "only records after this time: 10m (ago), or a time as in\n2026-01-31T12:00:00Z", QUERY_AGO("since")    }, \
        { "until",   0, "TIME",  "only records before this time",                               QUERY_AGO("until")    },                \
        { "sandbox", 0, "ID",    "only records about this sandbox",                  QUERY_TEXT("sandbox") },                \
        { "actor",   0, "ACTOR", "only records of this actor: a key's id, admin, uid:0", QUERY_TEXT("actor")   }

typedef struct AuditOptions {
        Common common;
        const char *dir;
        bool raw;
        uint64_t count;
} AuditOptions;

void audit_show_verdict(const json_t *verdict, const char *word);
int audit_verify(const Place *place, void *options, const Operands *words);
int audit_export(const Place *place, void *options, const Operands *words);
int audit_ls(const Place *place, void *options, const Operands *words);
int audit_tail(const Place *place, void *options, const Operands *words);
