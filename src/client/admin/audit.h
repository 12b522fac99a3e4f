/* audit.h: what the files of `cove audit` share. */
#pragma once

#include "client/subverb.h"

typedef struct AuditOptions {
        Common common;
        const char *dir;
        const char *since, *until, *sandbox, *actor;
        bool follow;
        uint64_t count;
        bool has_count;
} AuditOptions;

/* audit-log.c: the log, from a daemon or from a directory. */
extern const Usage audit_verify_usage, audit_export_usage, audit_ls_usage, audit_tail_usage;
int audit_verify(const Place *place, void *options, const Operands *words);
int audit_export(const Place *place, void *options, const Operands *words);
int audit_ls(const Place *place, void *options, const Operands *words);
int audit_tail(const Place *place, void *options, const Operands *words);
