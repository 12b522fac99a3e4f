/* warmer.h: who begins interpreters in sandboxes that stand ready for somebody.
 *
 * The core has pools and no interpreters; whoever has them (context/context.h) hangs itself into the manager.
 * Must not know: languages, beyond their names. */
#pragma once

#include "core/sandbox.h"

struct Context;

/* error NULL: it waits for code. Once, not from within; not at all after forget(). */
typedef void (*Warmed)(struct Context *x, const Error *error, void *asker);

typedef struct PoolWarmer {
        int (*warm)(Sandbox *sb, const char *language, Warmed warmed, void *asker, void *userdata, Error *reterr);
        void (*forget)(void *asker, void *userdata);
        void *userdata;
} PoolWarmer;

/* What a pool's line may name, by bit; ends with NULL. */
extern const char *const context_words[];
