/* audit-internal.h: what the files behind audit.h share. */
#pragma once

#include <systemd/sd-event.h>

#include "config/config.h"
#include "core/secret.h"
#include "base/text.h"
#include "observe/audit.h"

struct Audit {
        Manager *manager;
        CoreObserver observer;
        int dirfd, fd, head_fd;
        unsigned number; /* of the file being written */
        uint64_t size;   /* of it, up to the end of the last whole record */
        uint64_t rotate_at; /* so large it is to be before another one is tried again; 0: none has failed */
        uint64_t reserved; /* up to here it has space on disk; 0: none beyond its size */
        AuditHead head;
        Text text;       /* of the record being made */
        uint64_t n_written, n_lost;
        uint64_t lost;   /* that no record tells of yet */
        int error;       /* of the last write */
        bool was_on;
        bool dirty;
        sd_event_source *timer; /* a second after something was written */
        usec_t expire_at; /* when to look for files that are too old; monotonic */
        AuditFollower *followers;
};

#define AUDIT_WORD_MAX 128 /* of a name */

/* audit-write.c: one record: begin, members, end. */
void audit_begin(Audit *a);
void audit_put_text(Audit *a, const char *name, const char *value, size_t max); /* NULL: left out */
void audit_put_number(Audit *a, const char *name, uint64_t value);
int audit_end(Audit *a);
int audit_note(Audit *a, const char *event, const char *number_name, uint64_t number, const char *text);
int audit_open_file(Audit *a, unsigned number);
void audit_reserve(Audit *a); /* space ahead of what is written; tried again whenever it was not to be had */

/* audit-recover.c: finds the end of the chain and puts in order what a crash has left. */
int audit_recover(Audit *a, Error *reterr);

/* audit-expire.c */
void audit_expire(Audit *a);
