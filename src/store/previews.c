/* Rows of public ports. */
#include "api/preview/rows.h"

#include "store/table.h"
#include "store/tables.h"

static const ShapeField preview_table_fields[] = {
        FIELD("sandbox", chars,  StorePreview, sandbox),
        FIELD("port",    uint32, StorePreview, port),
};
TABLE(preview_table, StorePreview, "preview", 2, PUTS | DELETES, .conflict = "DO NOTHING", IN_ORDER("sandbox, port"));
