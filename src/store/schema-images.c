/* Images, templates, layers, the build cache, and the work on them. */
#include "store/schema.h"

const char schema_images[] =
        "CREATE TABLE image ("
        "  digest TEXT PRIMARY KEY,"
        "  layer TEXT," /* NULL: base */
        "  base TEXT,"
        "  snapshot TEXT,"
        "  env BLOB NOT NULL,"
        "  workdir TEXT,"
        "  user TEXT,"
        "  uid INTEGER NOT NULL,"
        "  gid INTEGER NOT NULL,"
        "  home TEXT,"
        "  entrypoint BLOB NOT NULL,"
        "  cmd BLOB NOT NULL,"
        "  exposed BLOB NOT NULL,"
        "  labels BLOB NOT NULL,"
        "  start_command TEXT,"
        "  ready_command TEXT,"
        "  source TEXT,"
        "  layers TEXT," /* a JSON list */
        "  config_digest TEXT,"
        "  bytes INTEGER NOT NULL,"
        "  created_at INTEGER NOT NULL"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE template ("
        "  tenant TEXT NOT NULL," /* '': for all tenants */
        "  name TEXT NOT NULL,"
        "  tag TEXT NOT NULL,"
        "  digest TEXT NOT NULL REFERENCES image (digest),"
        "  updated_at INTEGER NOT NULL,"
        "  PRIMARY KEY (tenant, name, tag)"
        ") STRICT, WITHOUT ROWID;"
        "CREATE INDEX template_digest ON template (digest);"
        /* A new tenant with the name of a deleted one must not inherit. */
        "CREATE TRIGGER template_of_tenant AFTER DELETE ON tenant BEGIN"
        "  DELETE FROM template WHERE tenant = old.name;"
        "END;"

        "CREATE TABLE layer ("
        "  chain TEXT PRIMARY KEY," /* the name of its tree */
        "  parent TEXT,"
        "  diff_id TEXT,"
        "  digest TEXT," /* of the blob that it was unpacked from, or packed into */
        "  media_type TEXT,"
        "  blob_bytes INTEGER NOT NULL,"
        "  bytes INTEGER NOT NULL," /* its size without its parent */
        "  created_at INTEGER NOT NULL,"
        "  removing INTEGER NOT NULL" /* its tree is being removed, or was when the daemon ended */
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE image_snapshot (" /* trees that belong to images and to steps of builds */
        "  name TEXT PRIMARY KEY,"
        "  created_at INTEGER NOT NULL,"
        "  removing INTEGER NOT NULL"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE build_cache ("
        "  tenant TEXT NOT NULL,"
        "  key TEXT NOT NULL,"
        "  snapshot TEXT NOT NULL,"
        "  created_at INTEGER NOT NULL,"
        "  used_at INTEGER NOT NULL,"
        "  PRIMARY KEY (tenant, key)"
        ") STRICT, WITHOUT ROWID;"
        "CREATE TRIGGER build_cache_of_tenant AFTER DELETE ON tenant BEGIN"
        "  DELETE FROM build_cache WHERE tenant = old.name;"
        "END;"

        "CREATE TABLE making ("
        "  serial INTEGER PRIMARY KEY," /* the order of the requests */
        "  id TEXT NOT NULL UNIQUE,"
        "  tenant TEXT NOT NULL,"
        "  kind TEXT NOT NULL,"
        "  name TEXT,"
        "  status TEXT NOT NULL,"
        "  error_code INTEGER NOT NULL,"
        "  error TEXT,"
        "  digest TEXT,"
        "  stage TEXT,"
        "  progress_done INTEGER NOT NULL,"
        "  progress_total INTEGER NOT NULL,"
        "  created_at INTEGER NOT NULL,"
        "  ended_at INTEGER NOT NULL"
        ") STRICT;";
