/* audit-internal.h: shared by the files behind audit.h. */
#pragma once

#include <systemd/sd-event.h>

#include "config/config.h"
#include "core/secret.h"
#include "core/settle.h"
#include "base/text.h"
#include "observe/audit.h"

struct Audit {
        Manager *manager;
        CoreObserver observer;
        int dirfd, fd, head_fd;
        unsigned number; /* of the file being written */
        uint64_t size;   /* of it, up to the end of the last whole record */
        uint64_t rotate_at; /* after a failed rotation, the size at which the next is tried; 0: none has failed */
        uint64_t reserved; /* offset up to which it has space on disk; 0: none beyond its size */
        AuditHead head;
        Text text;       /* of the record being made */
        Text pending;    /* records of this turn, which are written together; see core/settle.h */
        unsigned n_pending;
        AuditHead written; /* what the file ends with */
        SettleWriter writer;
        uint64_t n_written, n_lost;
        uint64_t lost;   /* those that no record reports yet */
        int error;       /* of the last write */
        bool was_on;
        bool dirty;
        sd_event_source *timer; /* one second after the first write */
        usec_t expire_at; /* when to check again for files that are too old; monotonic */
        AuditFollower *followers;
};

#define AUDIT_PENDING_MAX ((size_t) 1 << 20)
#define AUDIT_WORD_MAX 128 /* bytes of a short value: a name, a kind, an id */

/* audit-write.c: one record: begin, members, end. */
void audit_begin(Audit *a);
void audit_put_text(Audit *a, const char *name, const char *value, size_t max); /* NULL or "": left out */
void audit_put_number(Audit *a, const char *name, uint64_t value);
int audit_end(Audit *a); /* 0 also if the record is still to be written */
int audit_flush(Audit *a); /* after a failure the pending records are lost */
int audit_note(Audit *a, const char *event, const char *number_name, uint64_t number, const char *text);
int audit_open_file(Audit *a, unsigned number);
void audit_reserve(Audit *a); /* allocates disk space ahead of the end; a failure is retried after later writes */

/* audit-recover.c: finds the end of the chain and repairs it after a crash. */
int audit_recover(Audit *a, Error *reterr);

/* audit-expire.c */
void audit_expire(Audit *a);
