/* rows.h: rows of public ports. See core/store.h. */
#pragma once

#include "core/sandbox.h"
#include "core/store.h"

typedef struct StorePreview {
        char sandbox[SANDBOX_ID_LENGTH + 1];
        uint32_t port;
} StorePreview;

extern const StoreTable preview_table;
STORE_WRITE(store_preview_insert, store_put, preview_table, StorePreview); /* -ENOENT: no such sandbox */
STORE_WRITE(store_preview_delete, store_delete, preview_table, StorePreview);
STORE_EACH(store_previews, preview_table, const StorePreview);
