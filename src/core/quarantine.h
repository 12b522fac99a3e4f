/* quarantine.h: objects that exist without a row in the store.
 *
 * A row is written before its object is made and deleted after the object is gone. So an object whose row says that
 * it has ended may be removed, while an object without a row was not made with this store: the operator has put an
 * older copy of the store in place, or the store was lost. A start removes no such object. It is listed here, a
 * sandbox is frozen, and everything is left as it is until the operator puts the right store back, or restores or
 * removes the object by name.
 * While the store is in doubt (generation.h), objects whose row says that they have ended or are parked are not
 * removed either, because the row may be outdated.
 * Filled once, after the start. An object that appears later without a row is a stray (reap.h), because the daemon
 * was running when it was made.
 * Must not know: who asks, how an object is shown. */
#pragma once

#include "base/tree-request.h"
#include "core/manager.h"

typedef enum QuarantineKind {
        QUARANTINE_SANDBOX, /* processes, or other remains in the kernel; frozen */
        QUARANTINE_DISK,
        QUARANTINE_SNAPSHOT,
        QUARANTINE_VOLUME,
        /* Only while the store is in doubt (generation.h); else it was finished just before the daemon died,
         * and gets its row. */
        QUARANTINE_LAYER,
        QUARANTINE_JOURNAL, /* a file of box/ */
        _QUARANTINE_KIND_MAX,
} QuarantineKind;

extern const ShapeNames quarantine_kind_names;

typedef struct Quarantined Quarantined;

struct Quarantined {
        QuarantineKind kind;
        char name[TREE_NAME_MAX + 1]; /* the object's id, or the file's name */
        uint64_t bytes;
        usec_t since;     /* wall clock: when this daemon found it */
        const char *why;
        bool busy;        /* is being removed */
        UT_hash_handle hh; /* by kind and name; in the order in which they were found */
};

/* knows(): whether a room has a row for a tree of this kind, for kinds whose rows the core does not know. A kind
 * without a keeper is not checked. */
void quarantine_set_keeper(Manager *m, TreeKind kind, bool (*knows)(const char *name, void *userdata), void *userdata);

int quarantine_begin(Manager *m); /* before the recovery */
void quarantine_take_stock(Manager *m); /* lists the trees, after the rest of the recovery; retries until that succeeds */
/* -ENOMEM: the store is in doubt then as long as this daemon lives, so that the unlisted object is not removed. */
int quarantine_add(Manager *m, QuarantineKind kind, const char *name, uint64_t bytes);
Quarantined *quarantine_find(const Manager *m, QuarantineKind kind, const char *name);
Quarantined *quarantine_first(const Manager *m); /* then hh.next */
/* -EBUSY: the sandbox with this id is in quarantine, so its disk cannot be used. */
int quarantine_refuse(const Manager *m, const char *id, Error *reterr);
void quarantine_drop(Manager *m, Quarantined *q); /* removes the entry: the object is gone, or has a row */

/* Removes the object for good. done is called exactly once, never from within the call; if the call itself fails,
 * not at all. */
typedef void (*QuarantineDone)(const Error *error, void *userdata);
int quarantine_remove(Manager *m, Quarantined *q, QuarantineDone done, void *userdata, Error *reterr);
/* -EINVAL: an object of this kind cannot be restored without its row (the error says what to do instead), it is
 * being removed, or its name is not an id. */
int quarantine_check_restore(const Quarantined *q, Error *reterr);
/* Makes a parked sandbox of a disk, with the disk's id. The sandbox is made from the spec, because its former
 * properties are unknown. Takes the spec's contents on success. -EINVAL: it is not a disk. -EEXIST: the name is
 * taken. -EBUSY: the sandbox of the disk is in quarantine itself. */
int quarantine_restore(Manager *m, Quarantined *q, SandboxSpec *spec, Sandbox **ret, Error *reterr);
void quarantine_forget_caller(Manager *m, void *userdata);
void quarantine_on_destroyed(Manager *m, const char *id, const Error *error); /* the provider's answer */
void quarantine_free(Manager *m);
