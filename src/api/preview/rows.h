/* rows.h: rows of public ports. As core/store.h. */
#pragma once

#include "core/sandbox.h"
#include "core/store.h"

typedef struct StorePreview {
        char sandbox[SANDBOX_ID_LENGTH + 1];
        uint32_t port;
} StorePreview;

int store_preview_insert(Store *s, const StorePreview *row); /* -ENOENT: no such sandbox */
int store_preview_delete(Store *s, const StorePreview *row);
int store_previews(Store *s, int (*each)(const StorePreview *row, void *userdata), void *userdata);
