/* rules.h: restrictions on a guest's files and processes beyond those of its user; part of a CREATE (spawn.h).
 *
 * Paths are those of the sandbox: absolute, normalised. If one path is below another, the longer one decides; a
 * denied path wins over all.
 * Pure encode and decode. Must not know: how any of it is enforced, policies.
 *
 *      u8 flags · u64 file_size_max · bytes: for each path its kind, the path, a NUL */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/codec.h"

#define RULES_PATHS_BYTES 2048
#define RULES_PATHS_MAX   64

typedef enum RulesPathKind {
        RULES_READ_ONLY = 1,
        RULES_READ_ONLY_IF_THERE, /* a missing path is no failure */
        RULES_WRITABLE,           /* made for the guest's user if missing */
        RULES_DENIED,
        _RULES_PATH_KIND_MAX,
} RulesPathKind;

typedef enum RulesFlags {
        RULES_SEALED = 1 << 0,       /* everything outside the RULES_WRITABLE paths is read-only, except devices and /proc */
        RULES_NO_PROCESSES = 1 << 1, /* a command may make threads and execute another program, but make no processes */
        RULES_FLAGS_ALL = RULES_SEALED | RULES_NO_PROCESSES,
} RulesFlags;

typedef struct Rules {
        uint8_t flags;
        uint64_t file_size_max; /* 0: no limit */
        uint16_t paths_size;
        char paths[RULES_PATHS_BYTES];
} Rules;

/* -ENOSPC: no room for another path. */
int rules_add_path(Rules *r, RulesPathKind kind, const char *path);

/* The path after `previous` (NULL: the first); returns NULL after the last. */
const char *rules_next_path(const Rules *r, const char *previous, RulesPathKind *ret_kind);

bool rules_equal(const Rules *a, const Rules *b);

void rules_put(WireWriter *w, const Rules *r);
bool rules_get(WireReader *reader, Rules *ret); /* false: bytes that rules_put() would not write */
