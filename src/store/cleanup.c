/* Rows of clean-up runs. */
#include "reaper/rows.h"

#include "store/driver.h"
#include "store/table.h"
#include "store/tables.h"

#define COUNT(name, member) { name, SHAPE_UINT64, offsetof(CleanupCounts, member), .column = #member }
static const ShapeField cleanup_counts_fields[] = {
        COUNT("scanned", scanned), COUNT("found", found), COUNT("orphaned", orphaned), COUNT("stuck", stuck), COUNT("old", old), COUNT("aged", aged),
        COUNT("unhealthy", unhealthy), COUNT("emergency", emergency), COUNT("orphanedRecords", lost), COUNT("orphanedActual", strays),
        COUNT("strayFiles", files), COUNT("removed", removed), COUNT("failed", failed),
};
const Shape cleanup_counts_shape = SHAPE_OF(cleanup_counts, CleanupCounts);

static const ShapeField cleanup_table_fields[] = {
        FIELD_GIVEN("serial",          CleanupRow, serial),
        FIELD("kind",          chars,  CleanupRow, kind),
        FIELD("cause",         chars,  CleanupRow, cause),
        FIELD("started_at",    uint64, CleanupRow, started_at),
        FIELD("duration_usec", uint64, CleanupRow, duration_usec),
        { .kind = SHAPE_OBJECT, .offset = offsetof(CleanupRow, counts), .shape = &cleanup_counts_shape },
        FIELD("freed",         text,   CleanupRow, freed),
        FIELD("failures",      text,   CleanupRow, failures),
        FIELD("error",         text,   CleanupRow, error),
};
enum { CLEANUP_LAST, CLEANUP_TRIM };
static const char *const cleanup_queries[] = {
        [CLEANUP_LAST] = "ORDER BY serial DESC LIMIT ?1",
        [CLEANUP_TRIM] = "DELETE FROM cleanup WHERE serial <= (SELECT max(serial) FROM cleanup) - ?1",
};
TABLE(cleanup_table, CleanupRow, "cleanup", 1, INSERTS, QUERIES(cleanup_queries));
STORE_READER(cleanup_row, const CleanupRow);

int store_cleanup_add(Store *s, const CleanupRow *row, unsigned keep) {
        return store_insert_trimmed(s, &cleanup_table, row, CLEANUP_TRIM, keep);
}

int store_cleanup_each(Store *s, unsigned limit, int (*each)(const CleanupRow *row, void *userdata), void *userdata) {
        return query_read(s, &cleanup_table, CLEANUP_LAST, VALUES(NUMBER(limit)),
                        &(StoreReader) { cleanup_row, (void (*)(void)) each, userdata });
}
