/* warmer.h: starts interpreters in pooled sandboxes.
 *
 * The core has pools but no interpreters; the room that has them (context/context.h) registers itself with the
 * manager.
 * Must not know: languages, beyond their names. */
#pragma once

#include "core/sandbox.h"

struct Context;

/* error NULL: the interpreter waits for code. Called once, not from within warm(); not at all after forget(). */
typedef void (*Warmed)(struct Context *x, const Error *error, void *asker);

typedef struct PoolWarmer {
        int (*warm)(Sandbox *sb, const char *language, Warmed warmed, void *asker, void *userdata, Error *reterr);
        void (*forget)(void *asker, void *userdata);
        void *userdata;
} PoolWarmer;

/* The names of contexts in a pool's config, by bit; ends with NULL. */
extern const char *const context_words[];
