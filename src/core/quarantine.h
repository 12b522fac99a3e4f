/* quarantine.h: what is there and no row explains.
 *
 * Rows are written before the thing is made and go after it is gone: so what a row says has ended may be removed, and what has no row at all was not made by
 * the life of this store. Somebody has put an older copy of it in place, or lost it. A start removes nothing of that: it is listed here, stands still and is
 * left as it is, until somebody says what shall become of it: put the right store back, or have it restored or removed by name.
 * Nor is what a row says has ended or is parked removed while the store is in doubt (generation.h): what it says may be of an earlier time.
 * Filled once, after the start; what comes later without a row is a stray (reap.h), since it came while we looked.
 * Must not know: who asks, how a thing is shown. */
#pragma once

#include "base/tree-request.h"
#include "core/manager.h"

typedef enum QuarantineKind {
        QUARANTINE_SANDBOX, /* something lives, or is left in the kernel: frozen */
        QUARANTINE_DISK,
        QUARANTINE_SNAPSHOT,
        QUARANTINE_VOLUME,
        QUARANTINE_LAYER,   /* only while the store is in doubt (generation.h): else it was finished in the last moment, and gets its row */
        QUARANTINE_JOURNAL, /* a file of box/ */
        _QUARANTINE_KIND_MAX,
} QuarantineKind;

extern const ShapeNames quarantine_kind_names;

typedef struct Quarantined Quarantined;

struct Quarantined {
        QuarantineKind kind;
        char name[TREE_NAME_MAX + 1]; /* the id of what it was, or the file's name */
        uint64_t bytes;
        usec_t since;     /* wall clock: when this daemon found it */
        const char *why;
        bool busy;        /* is being removed or restored */
        UT_hash_handle hh; /* by kind and name; in the order that they were found in */
};

/* Who keeps trees of a kind in rows that the core does not know. Without one, nobody looks at that kind. */
void quarantine_set_keeper(Manager *m, TreeKind kind, bool (*knows)(const char *name, void *userdata), void *userdata);

int quarantine_begin(Manager *m); /* before anything is looked at */
void quarantine_take_stock(Manager *m); /* of trees, when everything else is recovered; again, until it could be done */
/* -ENOMEM: then the store is in doubt as long as this daemon lives, so that nobody removes what could not be listed. */
int quarantine_add(Manager *m, QuarantineKind kind, const char *name, uint64_t bytes);
Quarantined *quarantine_find(const Manager *m, QuarantineKind kind, const char *name);
Quarantined *quarantine_first(const Manager *m); /* then hh.next */
int quarantine_refuse(const Manager *m, const char *id, Error *reterr); /* -EBUSY: that sandbox is in quarantine, nothing else can be made of its disk */
void quarantine_drop(Manager *m, Quarantined *q); /* it is gone, or has a row now */

/* For good. done exactly once, never from within; when it fails at once, not at all. */
typedef void (*QuarantineDone)(const Error *error, void *userdata);
int quarantine_remove(Manager *m, Quarantined *q, QuarantineDone done, void *userdata, Error *reterr);
/* -EINVAL: it can never be restored without its record, and what to do instead; or not now. */
int quarantine_check_restore(const Quarantined *q, Error *reterr);
/* A disk becomes that of a parked sandbox with its id, which is as the spec says: nobody knows what it was. Takes the spec's contents on success.
 * -EINVAL: it is no disk. -EEXIST: the name is taken. -EBUSY: its sandbox lives, and is in quarantine itself. */
int quarantine_restore(Manager *m, Quarantined *q, SandboxSpec *spec, Sandbox **ret, Error *reterr);
void quarantine_forget_caller(Manager *m, void *userdata);
void quarantine_on_destroyed(Manager *m, const char *id, const Error *error); /* the provider's answer */
void quarantine_free(Manager *m);
