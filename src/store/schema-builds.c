/* Builds, which have an id before they begin, and metadata of secrets. */
#include "store/schema.h"

const char schema_builds[] =
        "CREATE TABLE build ("
        "  serial INTEGER PRIMARY KEY," /* the order in which they were asked for */
        "  id TEXT NOT NULL UNIQUE,"
        "  tenant TEXT NOT NULL," /* '': everybody's */
        "  name TEXT NOT NULL," /* of the template, without a tag */
        "  tags BLOB NOT NULL,"
        "  cpu_milli INTEGER NOT NULL," /* for sandboxes of it; 0: nothing was said */
        "  memory_bytes INTEGER NOT NULL,"
        "  making TEXT," /* NULL: has not begun */
        "  status TEXT NOT NULL,"
        "  error TEXT,"
        "  digest TEXT," /* what it made */
        "  created_at INTEGER NOT NULL,"
        "  ended_at INTEGER NOT NULL"
        ") STRICT;"
        /* Whoever gets the name of a tenant that is gone must not inherit. */
        "CREATE TRIGGER build_of_tenant AFTER DELETE ON tenant BEGIN"
        "  DELETE FROM build WHERE tenant = old.name;"
        "END;"

        "CREATE TABLE secret_note ("
        "  tenant TEXT NOT NULL,"
        "  name TEXT NOT NULL,"
        "  version INTEGER NOT NULL," /* counts its values, from 1 */
        "  metadata TEXT," /* a JSON object of texts; NULL: none */
        "  PRIMARY KEY (tenant, name)"
        ") STRICT, WITHOUT ROWID;"
        "CREATE TRIGGER secret_note_of_secret AFTER DELETE ON secret BEGIN"
        "  DELETE FROM secret_note WHERE tenant = old.tenant AND name = old.name;"
        "END;";
