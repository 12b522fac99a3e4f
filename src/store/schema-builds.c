/* Builds, which have an id before they begin, and metadata of secrets. */
#include "store/schema.h"

const char schema_builds[] =
        "CREATE TABLE build ("
        "  serial INTEGER PRIMARY KEY," /* the order of the requests */
        "  id TEXT NOT NULL UNIQUE,"
        "  tenant TEXT NOT NULL," /* '': for all tenants */
        "  name TEXT NOT NULL," /* of the template, without a tag */
        "  tags BLOB NOT NULL,"
        "  cpu_milli INTEGER NOT NULL," /* for its sandboxes; 0: not set */
        "  memory_bytes INTEGER NOT NULL,"
        "  making TEXT," /* NULL: not started */
        "  status TEXT NOT NULL,"
        "  error TEXT,"
        "  digest TEXT," /* of the result */
        "  created_at INTEGER NOT NULL,"
        "  ended_at INTEGER NOT NULL"
        ") STRICT;"
        /* A new tenant with the name of a deleted one must not inherit. */
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
