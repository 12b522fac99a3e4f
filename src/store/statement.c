#include "store/statement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "store/tables.h"

/* Whichever index leads to them, these are the ones that are wanted. */
#define JOB_FILTER                                                                                          \
        " AND (?1 IS NULL OR job.tenant = ?1) AND (?2 IS NULL OR instr(?2, ',' || job_state.status || ',') > 0)" \
        " AND (?3 IS NULL OR job.agent_type = ?3) AND (?4 IS NULL OR job.task_id = ?4)"                      \
        " ORDER BY job.serial DESC LIMIT ?6"

/* Either the SQL itself, or the table that it comes from, with a tail. */
static const struct {
        const char *sql;
        const FieldTable *insert, *update, *delete, *select, *join;
        const char *tail;
} texts[_STATEMENT_MAX] = {
        [STATEMENT_BEGIN]    = { "BEGIN IMMEDIATE" },
        [STATEMENT_COMMIT]   = { "COMMIT" },
        [STATEMENT_ROLLBACK] = { "ROLLBACK" },

        [STATEMENT_SANDBOX_INSERT]       = { .insert = &sandbox_table },
        [STATEMENT_SANDBOX_STATE_INSERT] = { .insert = &sandbox_state_table },
        [STATEMENT_SANDBOX_UPDATE]       = { .update = &sandbox_table },
        [STATEMENT_SANDBOX_STATE_UPDATE] = { .update = &sandbox_state_table },
        [STATEMENT_SANDBOX_DELETE]       = { .delete = &sandbox_table }, /* what hangs on it goes by ON DELETE CASCADE */
        [STATEMENT_SANDBOX_SELECT]       = { .select = &sandbox_table, .join = &sandbox_state_table,
                                             .tail = "ORDER BY sandbox.serial" },

        [STATEMENT_EXECUTION_INSERT]       = { .insert = &execution_table },
        [STATEMENT_EXECUTION_STATE_INSERT] = { .insert = &execution_state_table },
        [STATEMENT_EXECUTION_STATE_UPDATE] = { .update = &execution_state_table },
        [STATEMENT_EXECUTION_DELETE]       = { .delete = &execution_table },
        [STATEMENT_EXECUTION_SELECT]       = { .select = &execution_table, .join = &execution_state_table,
                                               .tail = "ORDER BY execution.sandbox, execution.number" },

        [STATEMENT_LEDGER_INSERT] = { .insert = &ledger_table, .tail = "ON CONFLICT DO NOTHING" },
        [STATEMENT_LEDGER_DELETE] = { .delete = &ledger_table },
        [STATEMENT_LEDGER_SELECT] = { .select = &ledger_table, .tail = "ORDER BY sandbox, kind, name" },

        /* The parameters are those of event_table; the last number of the sandbox's own is one step away in the index. */
        [STATEMENT_EVENT_INSERT] = { "INSERT INTO event (sandbox, serial, at, type, execution, text, number)"
                                     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1 + coalesce("
                                     "  (SELECT number FROM event WHERE sandbox = ?1 ORDER BY serial DESC LIMIT 1), 0))"
                                     " RETURNING number" },
        [STATEMENT_EVENT_TRIM]   = { "DELETE FROM event WHERE sandbox = ?1"
                                     " AND serial = (SELECT min(serial) FROM event WHERE sandbox = ?1)" },
        [STATEMENT_EVENT_SELECT] = { .select = &event_table,
                                     .tail = "WHERE sandbox = ?1 AND serial > ?2 AND at >= ?3 ORDER BY serial" },

        [STATEMENT_COUNTER_PUT]    = { .insert = &counter_table,
                                       .tail = "ON CONFLICT (name) DO UPDATE SET value = excluded.value" },
        [STATEMENT_COUNTER_SELECT] = { "SELECT value FROM counter WHERE name = ?1" },

        [STATEMENT_KEY_INSERT] = { .insert = &key_table },
        [STATEMENT_KEY_USED]   = { "UPDATE key SET last_used_at = ?2 WHERE id = ?1" },
        [STATEMENT_KEY_DELETE] = { .delete = &key_table },
        [STATEMENT_KEY_SELECT] = { .select = &key_table, .tail = "ORDER BY serial" },

        [STATEMENT_TENANT_PUT]    = { .insert = &tenant_table,
                                      .tail = "ON CONFLICT (name) DO UPDATE SET sandboxes_max = excluded.sandboxes_max,"
                                              " cpu_milli_max = excluded.cpu_milli_max,"
                                              " memory_bytes_max = excluded.memory_bytes_max,"
                                              " disk_bytes_max = excluded.disk_bytes_max,"
                                              " created_at = excluded.created_at" },
        [STATEMENT_TENANT_DELETE] = { .delete = &tenant_table },
        [STATEMENT_TENANT_SELECT] = { .select = &tenant_table, .tail = "ORDER BY name" },

        /* The columns of artifact_table, then the serial. */
#define ARTIFACT_SELECT "SELECT id, owner_kind, owner_id, tenant, name, type, sha256, size, truncated, created_at, state, attempts," \
                        " error, place, serial FROM artifact "
        [STATEMENT_ARTIFACT_INSERT]   = { .insert = &artifact_table },
        [STATEMENT_ARTIFACT_UPDATE]   = { .update = &artifact_state_table },
        [STATEMENT_ARTIFACT_DELETE]   = { .delete = &artifact_table },
        [STATEMENT_ARTIFACT_FIND]     = { ARTIFACT_SELECT "WHERE id = ?1" },
#define ARTIFACT_FILTER " AND (?3 IS NULL OR tenant = ?3) AND (?4 IS NULL OR owner_kind = ?4) ORDER BY serial LIMIT ?2"
        [STATEMENT_ARTIFACT_OF_OWNER] = { ARTIFACT_SELECT "WHERE owner_id = ?5 AND serial > ?1" ARTIFACT_FILTER },
        [STATEMENT_ARTIFACT_ALL]      = { ARTIFACT_SELECT "WHERE serial > ?1" ARTIFACT_FILTER },
        [STATEMENT_ARTIFACT_IN_STATE] = { ARTIFACT_SELECT "WHERE state = ?1 AND serial > ?2 ORDER BY serial LIMIT ?3" },
        [STATEMENT_ARTIFACT_OLDEST]   = { ARTIFACT_SELECT "WHERE state <> 'remote' AND created_at <= ?1 ORDER BY serial LIMIT ?2" },
        [STATEMENT_ARTIFACT_COUNT]    = { "SELECT count(*) FROM artifact WHERE owner_id = ?2 AND owner_kind = ?1" },
        [STATEMENT_ARTIFACT_RETRY]    = { "UPDATE artifact SET state = 'pending', attempts = 0 WHERE state = 'failed'" },
        [STATEMENT_ARTIFACT_SUMS]     = { "SELECT count(*), coalesce(sum(size), 0),"
                                          " coalesce(sum(CASE WHEN state <> 'remote' THEN size ELSE 0 END), 0),"
                                          " coalesce(sum(state = 'pending'), 0), coalesce(sum(state = 'failed'), 0) FROM artifact" },

        [STATEMENT_JOB_NEXT]            = { "SELECT coalesce(max(serial), 0) + 1 FROM job" },
        [STATEMENT_JOB_INSERT]          = { .insert = &job_table },
        [STATEMENT_JOB_STATE_INSERT]    = { .insert = &job_state_table },
        [STATEMENT_JOB_STATE_UPDATE]    = { .update = &job_state_table },
        [STATEMENT_JOB_DELETE]          = { .delete = &job_id_table },
        [STATEMENT_JOB_SELECT_ONE]      = { .select = &job_table, .join = &job_state_table, .tail = "WHERE job.id = ?1" },
        [STATEMENT_JOB_SELECT_KEY]      = { .select = &job_table, .join = &job_state_table,
                                            .tail = "WHERE coalesce(job.tenant, '') = ?1 AND job.idempotency_key = ?2" },
        [STATEMENT_JOB_SELECT]          = { .select = &job_table, .join = &job_state_table,
                                            .tail = "WHERE job.serial < ?5 AND job.serial >= ?7" JOB_FILTER },
        [STATEMENT_JOB_SELECT_TENANT]   = { .select = &job_table, .join = &job_state_table,
                                            .tail = "WHERE job.serial < ?5 AND job.serial >= ?7 AND job.tenant = ?1" JOB_FILTER },
        [STATEMENT_JOB_SELECT_TASK]     = { .select = &job_table, .join = &job_state_table,
                                            .tail = "WHERE job.serial < ?5 AND job.serial >= ?7 AND job.task_id = ?4" JOB_FILTER },
        [STATEMENT_JOB_SELECT_DEAD]     = { .select = &job_table, .join = &job_state_table,
                                            .tail = "WHERE job.serial < ?5 AND job.serial >= ?7"
                                                    " AND job.id IN (SELECT id FROM job_state WHERE status = 'dead')" JOB_FILTER },
        [STATEMENT_JOB_SELECT_OPEN]     = { .select = &job_line_table, .join = &job_line_state_table,
                                            .tail = "WHERE job.id IN (SELECT id FROM job_state WHERE ended_at = 0) ORDER BY job.serial" },
        [STATEMENT_JOB_SELECT_UNTOLD]   = { "SELECT id FROM job_state WHERE webhook_status = 'pending'" },
        [STATEMENT_JOB_SELECT_EXPIRED]  = { "SELECT id FROM job_state WHERE ended_at > 0 AND ended_at < ?1 AND webhook_status <> 'pending'"
                                            " ORDER BY ended_at LIMIT ?2" },
        [STATEMENT_JOB_COUNT_DEAD]      = { "SELECT count(*) FROM job_state WHERE status = 'dead'"
                                            " AND (?1 IS NULL OR (SELECT tenant FROM job WHERE job.id = job_state.id) = ?1)" },
        [STATEMENT_ATTEMPT_PUT]         = { .insert = &attempt_table,
                                            .tail = "ON CONFLICT (job, number) DO UPDATE SET started_at = excluded.started_at,"
                                                    " ended_at = excluded.ended_at, sandbox_id = excluded.sandbox_id,"
                                                    " error_code = excluded.error_code, error = excluded.error,"
                                                    " pause_usec = excluded.pause_usec" },
        [STATEMENT_ATTEMPT_SELECT]      = { .select = &attempt_table, .tail = "WHERE job = ?1 ORDER BY number" },

        [STATEMENT_ALERT_INSERT] = { .insert = &alert_table },
        [STATEMENT_ALERT_UPDATE] = { .update = &alert_table },
        [STATEMENT_ALERT_DELETE] = { .delete = &alert_table },
        [STATEMENT_ALERT_SELECT] = { .select = &alert_table, .tail = "ORDER BY started_at, id" },

        [STATEMENT_NOTIFICATION_INSERT] = { .insert = &notification_table },
        [STATEMENT_NOTIFICATION_UPDATE] = { .update = &notification_table },
        [STATEMENT_NOTIFICATION_DELETE] = { .delete = &notification_table },
        [STATEMENT_NOTIFICATION_SELECT] = { .select = &notification_table, .tail = "ORDER BY id" },
        [STATEMENT_HISTORY_PUT]      = { .insert = &history_table,
                                         .tail = "ON CONFLICT (hourly, at) DO UPDATE SET span = excluded.span, body = excluded.body" },
        [STATEMENT_HISTORY_SELECT]   = { .select = &history_table, .tail = "WHERE hourly = ?1 AND at >= ?2 AND at < ?3 ORDER BY at" },
        [STATEMENT_HISTORY_UNFOLDED] = { "SELECT at FROM history WHERE hourly = 0 AND at < ?1 AND at >= coalesce("
                                         "  (SELECT max(at) + ?2 FROM history WHERE hourly = 1), 0) ORDER BY at LIMIT 1" },
        [STATEMENT_HISTORY_TRIM]     = { "DELETE FROM history WHERE hourly = 0 AND at < ?1 AND at <= coalesce("
                                         "  (SELECT at FROM history WHERE hourly = 0 ORDER BY at LIMIT 1 OFFSET ?2), ?1)" },
        [STATEMENT_TOTALS_PUT]       = { "INSERT INTO totals (id, body) VALUES (1, ?1)"
                                         " ON CONFLICT (id) DO UPDATE SET body = excluded.body" },
        [STATEMENT_TOTALS_SELECT]    = { "SELECT body FROM totals" },

        [STATEMENT_USAGE_INSERT] = { .insert = &usage_table },
        [STATEMENT_USAGE_SELECT] = { .select = &usage_table,
                                     .tail = "WHERE ended_at >= ?1 AND ended_at < ?2 ORDER BY ended_at DESC LIMIT ?3" },
        [STATEMENT_USAGE_SELECT_OF] = { .select = &usage_table,
                                     .tail = "WHERE tenant = ?4 AND ended_at >= ?1 AND ended_at < ?2 ORDER BY ended_at DESC LIMIT ?3" },
        [STATEMENT_USAGE_TRIM]   = { "DELETE FROM usage WHERE serial IN ("
                                     "  SELECT serial FROM usage WHERE ended_at < ?1 ORDER BY ended_at LIMIT ?2)" },
        [STATEMENT_USAGE_HOUR_ADD] = { .insert = &usage_hour_table,
                                       .tail = "ON CONFLICT (at, tenant, agent_type) DO UPDATE SET"
                                               " sandboxes = sandboxes + excluded.sandboxes,"
                                               " lifetime_usec = lifetime_usec + excluded.lifetime_usec,"
                                               " cpu_usec = cpu_usec + excluded.cpu_usec,"
                                               " memory_byte_seconds = memory_byte_seconds + excluded.memory_byte_seconds,"
                                               " egress_bytes = egress_bytes + excluded.egress_bytes,"
                                               " memory_peak_bytes = max(memory_peak_bytes, excluded.memory_peak_bytes)" },
        [STATEMENT_USAGE_HOUR_SELECT] = { .select = &usage_hour_table, .tail = "WHERE at >= ?1 AND at < ?2 ORDER BY at" },

        /* The first field is the serial, which the database gives. */
        [STATEMENT_CLEANUP_INSERT] = { "INSERT INTO cleanup (kind, cause, started_at, duration_usec, scanned, found, orphaned, stuck,"
                                       " old, aged, unhealthy, emergency, lost, strays, files, removed, failed, freed, failures, error)"
                                       " VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)" },
        [STATEMENT_CLEANUP_TRIM]   = { "DELETE FROM cleanup WHERE serial <= (SELECT max(serial) FROM cleanup) - ?1" },
        [STATEMENT_CLEANUP_SELECT] = { .select = &cleanup_table, .tail = "ORDER BY serial DESC LIMIT ?1" },

        [STATEMENT_SNAPSHOT_INSERT] = { .insert = &snapshot_table },
        [STATEMENT_SNAPSHOT_UPDATE] = { .update = &snapshot_table },
        [STATEMENT_SNAPSHOT_DELETE] = { .delete = &snapshot_table },
        [STATEMENT_SNAPSHOT_SELECT] = { .select = &snapshot_table, .tail = "ORDER BY serial" },
        [STATEMENT_VOLUME_INSERT] = { .insert = &volume_table },
        [STATEMENT_VOLUME_UPDATE] = { .update = &volume_table },
        [STATEMENT_VOLUME_DELETE] = { .delete = &volume_table },
        [STATEMENT_VOLUME_SELECT] = { .select = &volume_table, .tail = "ORDER BY serial" },

        [STATEMENT_PREVIEW_INSERT] = { .insert = &preview_table, .tail = "ON CONFLICT DO NOTHING" },
        [STATEMENT_PREVIEW_DELETE] = { .delete = &preview_table },
        [STATEMENT_PREVIEW_SELECT] = { .select = &preview_table, .tail = "ORDER BY sandbox, port" },

        [STATEMENT_NETWORK_USE_PUT]    = { .insert = &network_use_table,
                                           .tail = "ON CONFLICT (sandbox) DO UPDATE SET up_bytes = excluded.up_bytes,"
                                                   " down_bytes = excluded.down_bytes, requests = excluded.requests,"
                                                   " denied = excluded.denied, base_up_bytes = excluded.base_up_bytes,"
                                                   " base_down_bytes = excluded.base_down_bytes,"
                                                   " base_requests = excluded.base_requests, base_denied = excluded.base_denied" },
        [STATEMENT_NETWORK_USE_SELECT] = { .select = &network_use_table, .tail = "ORDER BY sandbox" },

        /* The parameters are those of denial_table, of which the second is given here. */
        [STATEMENT_DENIAL_INSERT] = { "INSERT INTO denial (sandbox, number, at, kind, protocol, host, address, port, method, path, rule,"
                                      " reason, text, cure, count) VALUES (?1, 1 + coalesce("
                                      "  (SELECT number FROM denial WHERE sandbox = ?1 ORDER BY number DESC LIMIT 1), ?2),"
                                      " ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) RETURNING number" },
        [STATEMENT_DENIAL_TRIM]   = { "DELETE FROM denial WHERE sandbox = ?1 AND number <= ?2" },
        [STATEMENT_DENIAL_SELECT] = { .select = &denial_table,
                                      .tail = "WHERE sandbox = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3" },

        [STATEMENT_LEARNED_ADD]    = { "INSERT INTO learned (sandbox, protocol, host, address, port, method, count, at)"
                                       " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE"
                                       "  (SELECT count(*) FROM learned WHERE sandbox = ?1) < ?9 OR EXISTS (SELECT 1 FROM learned"
                                       "   WHERE sandbox = ?1 AND protocol = ?2 AND host = ?3 AND address = ?4 AND port = ?5 AND method = ?6)"
                                       " ON CONFLICT (sandbox, protocol, host, address, port, method)"
                                       "  DO UPDATE SET count = count + excluded.count, at = excluded.at" },
        [STATEMENT_LEARNED_SELECT] = { .select = &learned_table, .tail = "WHERE sandbox = ?1 ORDER BY host, address, port, protocol, method" },

        /* The columns of approval_table, then the serial. */
#define APPROVAL_SELECT "SELECT id, ask, sandbox, tenant, profile, object, rule, status, asked_at, expires_at, answered_at, scope, answered_by," \
                        " serial FROM approval "
        [STATEMENT_APPROVAL_INSERT] = { .insert = &approval_table },
        [STATEMENT_APPROVAL_UPDATE] = { .update = &approval_table },
        [STATEMENT_APPROVAL_TRIM]   = { "DELETE FROM approval WHERE status <> 'open' AND serial <= (SELECT max(serial) FROM approval) - ?1" },
        [STATEMENT_APPROVAL_SELECT] = { APPROVAL_SELECT "WHERE (?1 IS NULL OR tenant = ?1) AND (?2 IS NULL OR status = ?2) AND serial < ?3"
                                        " ORDER BY serial DESC LIMIT ?4" },
        [STATEMENT_APPROVAL_FIND]   = { APPROVAL_SELECT "WHERE id = ?1" },
        [STATEMENT_APPROVAL_FIND_ASK] = { APPROVAL_SELECT "WHERE ask = ?1" },
        [STATEMENT_APPROVAL_CLOSE]  = { "UPDATE approval SET status = ?2, answered_at = ?3 WHERE status = 'open' AND expires_at <= ?4"
                                        " AND (?1 IS NULL OR sandbox = ?1)" },

        [STATEMENT_GRANT_INSERT] = { .insert = &grant_table, .tail = "ON CONFLICT DO NOTHING" },
        [STATEMENT_GRANT_SELECT] = { .select = &grant_table,
                                     .tail = "WHERE sandbox = ?1 OR (tenant = ?2 AND profile = ?3) ORDER BY serial" },
        /* The columns of all that loads secrets: tenant, name, sealed, created_at, updated_at. */
#define SECRET_SELECT "SELECT tenant, name, sealed, created_at, updated_at FROM secret "
        [STATEMENT_SECRET_PUT]    = { "INSERT INTO secret (tenant, name, sealed, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)"
                                      " ON CONFLICT (tenant, name) DO UPDATE SET sealed = excluded.sealed,"
                                      " updated_at = max(excluded.updated_at, created_at + 1) RETURNING created_at" },
        [STATEMENT_SECRET_DELETE] = { "DELETE FROM secret WHERE tenant = ?1 AND name = ?2 RETURNING 1" },
        [STATEMENT_SECRET_FIND]   = { SECRET_SELECT "WHERE tenant = ?1 AND name = ?2" },
        [STATEMENT_SECRET_SELECT] = { SECRET_SELECT "WHERE (?1 IS NULL OR tenant = ?1) ORDER BY tenant, name" },
        [STATEMENT_SECRET_COUNT]  = { "SELECT (SELECT count(*) FROM secret WHERE ?1 IS NULL OR tenant = ?1)"
                                      " + (SELECT count(*) FROM secret_given WHERE ?1 IS NULL AND length(sealed) > 0)" },
        [STATEMENT_SECRET_CLEAR]  = { "DELETE FROM secret" },
        [STATEMENT_VAULT_SELECT]  = { "SELECT NULL, NULL, sealed, 0, 0 FROM vault" },
        [STATEMENT_VAULT_PUT]     = { "INSERT INTO vault (id, sealed) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed" },
        [STATEMENT_VAULT_CLEAR]   = { "DELETE FROM vault" },
        [STATEMENT_GIVEN_ADD]     = { "INSERT INTO secret_given (sandbox, number, sealed) VALUES (?1,"
                                      " 1 + coalesce((SELECT max(number) FROM secret_given WHERE sandbox = ?1), 0), ?2)" },
        [STATEMENT_GIVEN_SELECT]  = { "SELECT NULL, sandbox, sealed, 0, 0 FROM secret_given ORDER BY sandbox, number" },
        [STATEMENT_GIVEN_CLEAR]   = { "UPDATE secret_given SET sealed = x''" },

        /* A digest says what is in it; what was found out about it here may be told again. */
        [STATEMENT_IMAGE_PUT]    = { .insert = &image_table,
                                     .tail = "ON CONFLICT (digest) DO UPDATE SET layer = excluded.layer, base = excluded.base,"
                                             " snapshot = excluded.snapshot, uid = excluded.uid, gid = excluded.gid, home = excluded.home,"
                                             " source = excluded.source, layers = excluded.layers,"
                                             " config_digest = excluded.config_digest, bytes = excluded.bytes" },
        [STATEMENT_IMAGE_DELETE] = { .delete = &image_table },
        [STATEMENT_IMAGE_SELECT] = { .select = &image_table, .tail = "ORDER BY created_at, digest" },

        [STATEMENT_TEMPLATE_PUT]    = { .insert = &template_table,
                                        .tail = "ON CONFLICT (tenant, name, tag) DO UPDATE SET digest = excluded.digest,"
                                                " updated_at = excluded.updated_at" },
        [STATEMENT_TEMPLATE_DELETE] = { .delete = &template_table },
        [STATEMENT_TEMPLATE_SELECT] = { .select = &template_table, .tail = "ORDER BY name, tag, tenant" },

        [STATEMENT_LAYER_PUT]    = { .insert = &layer_table,
                                     .tail = "ON CONFLICT (chain) DO UPDATE SET parent = excluded.parent, diff_id = excluded.diff_id,"
                                             " digest = excluded.digest, media_type = excluded.media_type,"
                                             " blob_bytes = excluded.blob_bytes, bytes = excluded.bytes, removing = excluded.removing" },
        [STATEMENT_LAYER_DELETE] = { .delete = &layer_table },
        [STATEMENT_LAYER_SELECT] = { .select = &layer_table, .tail = "ORDER BY created_at, chain" },

        [STATEMENT_LAYER_OF_SNAPSHOTS] = { "SELECT DISTINCT layer FROM snapshot WHERE layer IS NOT NULL" },

        [STATEMENT_IMAGE_SNAPSHOT_PUT]    = { .insert = &image_snapshot_table,
                                              .tail = "ON CONFLICT (name) DO UPDATE SET removing = excluded.removing" },
        [STATEMENT_IMAGE_SNAPSHOT_DELETE] = { .delete = &image_snapshot_table },
        [STATEMENT_IMAGE_SNAPSHOT_SELECT] = { .select = &image_snapshot_table, .tail = "ORDER BY name" },
        [STATEMENT_IMAGE_SNAPSHOT_FIND]   = { "SELECT 1 FROM image_snapshot WHERE name = ?1" },
        [STATEMENT_SNAPSHOT_OWNED]        = { "SELECT EXISTS (SELECT 1 FROM image_snapshot WHERE name = ?1)"
                                              " OR EXISTS (SELECT 1 FROM snapshot WHERE id = ?1)" },

        [STATEMENT_CACHE_PUT]    = { .insert = &build_cache_table,
                                     .tail = "ON CONFLICT (tenant, key) DO UPDATE SET snapshot = excluded.snapshot,"
                                             " created_at = excluded.created_at, used_at = excluded.used_at" },
        [STATEMENT_CACHE_DELETE] = { .delete = &build_cache_table },
        [STATEMENT_CACHE_SELECT] = { .select = &build_cache_table, .tail = "ORDER BY used_at, tenant, key" },

        [STATEMENT_MAKING_PUT]    = { .insert = &making_table,
                                      .tail = "ON CONFLICT (id) DO UPDATE SET status = excluded.status, error_code = excluded.error_code,"
                                              " error = excluded.error, digest = excluded.digest, stage = excluded.stage,"
                                              " progress_done = excluded.progress_done, progress_total = excluded.progress_total,"
                                              " ended_at = excluded.ended_at" },
        [STATEMENT_MAKING_DELETE] = { .delete = &making_table },
        [STATEMENT_MAKING_SELECT] = { .select = &making_table, .tail = "ORDER BY serial" },

        [STATEMENT_BUILD_PUT]    = { .insert = &build_table,
                                     .tail = "ON CONFLICT (id) DO UPDATE SET making = excluded.making, status = excluded.status, error = excluded.error,"
                                             " digest = excluded.digest, ended_at = excluded.ended_at" },
        [STATEMENT_BUILD_DELETE] = { .delete = &build_table },
        [STATEMENT_BUILD_SELECT] = { .select = &build_table, .tail = "ORDER BY serial" },

        [STATEMENT_SECRET_NOTE_PUT]  = { .insert = &secret_note_table,
                                         .tail = "ON CONFLICT (tenant, name) DO UPDATE SET version = excluded.version, metadata = excluded.metadata" },
        [STATEMENT_SECRET_NOTE_FIND] = { .select = &secret_note_table, .tail = "WHERE tenant = ?1 AND name = ?2" },
};

/* A result that is not here is taken by its low byte, the primary code, and else is an I/O error. */
static const struct {
        int rc, code;
} results[] = {
        { SQLITE_CONSTRAINT_PRIMARYKEY, -EEXIST    },
        { SQLITE_CONSTRAINT_UNIQUE,     -EEXIST    },
        { SQLITE_CONSTRAINT_FOREIGNKEY, -ENOENT    }, /* what the row hangs on is not there */
        { SQLITE_IOERR_NOMEM,           -ENOMEM    },
        { SQLITE_CONSTRAINT,            -EINVAL    },
        { SQLITE_BUSY,                  -EBUSY     },
        { SQLITE_LOCKED,                -EBUSY     },
        { SQLITE_NOMEM,                 -ENOMEM    },
        { SQLITE_FULL,                  -ENOSPC    },
        { SQLITE_CORRUPT,               -EUCLEAN   },
        { SQLITE_NOTADB,                -EUCLEAN   },
        { SQLITE_READONLY,              -EROFS     },
        { SQLITE_PERM,                  -EACCES    },
        { SQLITE_TOOBIG,                -E2BIG     },
        { SQLITE_RANGE,                 -EINVAL    },
        { SQLITE_MISMATCH,              -EBADMSG   },
};

static int result_code(sqlite3 *db, int rc) {
        int error = db && (rc & 0xff) == SQLITE_CANTOPEN ? sqlite3_system_errno(db) : 0;

        if (error > 0)
                return -error;
        for (size_t i = 0; i < ELEMENTSOF(results); i++)
                if (results[i].rc == rc)
                        return results[i].code;
        for (size_t i = 0; i < ELEMENTSOF(results); i++)
                if (results[i].rc == (rc & 0xff))
                        return results[i].code;
        return -EIO;
}

int sqlite_result(sqlite3 *db, int rc) {
        int code;

        if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
                return 0;
        code = result_code(db, rc);
        log_debug("store: %s (%d): %s", sqlite3_errstr(rc), rc, db ? sqlite3_errmsg(db) : "no database");
        return code;
}

int sqlite_error(Error *reterr, int code, sqlite3 *db, const char *path) {
        switch (code) {
        case -EBUSY:
                return error_set(reterr, code,
                                "'%s' is in use by another process: stop it, or use another state directory", path);
        case -EUCLEAN:
                return error_set(reterr, code, DATABASE_DAMAGED, path, sqlite3_errmsg(db));
        case -EROFS:
                return error_set(reterr, code,
                                "'%s' cannot be written: see who owns it, and how its file system is mounted", path);
        default:
                return error_set(reterr, code, "cannot open database '%s': %m (%s)", path, sqlite3_errmsg(db));
        }
}

int sqlite_get(sqlite3 *db, const char *sql, int64_t *ret) {
        sqlite3_stmt *st = NULL;
        int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

        if (rc == SQLITE_OK)
                rc = sqlite3_step(st);
        if (rc == SQLITE_ROW)
                *ret = sqlite3_column_int64(st, 0);
        (void) sqlite3_finalize(st);
        return sqlite_result(db, rc == SQLITE_DONE ? SQLITE_ERROR : rc);
}

static char *statement_text(StatementId id) {
        if (texts[id].insert)
                return table_insert_sql(texts[id].insert, texts[id].tail);
        if (texts[id].update)
                return table_update_sql(texts[id].update);
        if (texts[id].delete)
                return table_delete_sql(texts[id].delete);
        if (texts[id].select)
                return table_select_sql(texts[id].select, texts[id].join, texts[id].tail);
        return strdup(texts[id].sql);
}

int statement_prepare_all(Store *s) {
        for (StatementId id = 0; id < _STATEMENT_MAX; id++) {
                _cleanup_free_ char *sql = statement_text(id);
                int rc;

                if (!sql)
                        return -ENOMEM;
                rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->statements[id], NULL);
                if (rc != SQLITE_OK)
                        return sqlite_result(s->db, rc);
        }
        return 0;
}

void statement_finalize_all(Store *s) {
        for (StatementId id = 0; id < _STATEMENT_MAX; id++) {
                (void) sqlite3_finalize(s->statements[id]);
                s->statements[id] = NULL;
        }
}

int statement_run(Store *s, StatementId id, int rc, int64_t *ret_value) {
        sqlite3_stmt *st = s->statements[id];
        bool has_value = false, alone = s->timing && !s->in_transaction && !sqlite3_stmt_readonly(st);
        usec_t began = alone ? clock_usec() : 0;
        int64_t value = 0;

        if (s->failed < 0)
                return s->failed;
        if (rc == SQLITE_OK)
                while ((rc = sqlite3_step(st)) == SQLITE_ROW)
                        if (!has_value) {
                                value = sqlite3_column_int64(st, 0);
                                has_value = true;
                        }
        (void) sqlite3_reset(st);
        if (rc != SQLITE_DONE)
                return transaction_failed(s, sqlite_result(s->db, rc));
        if (alone)
                s->timing(clock_usec() - began, s->timing_data);
        if (has_value && ret_value)
                *ret_value = value;
        return 0;
}

int statement_write(Store *s, StatementId id, const FieldTable *t, size_t n, const void *row) {
        return statement_run(s, id, table_bind(t, s->statements[id], n, row), /* ret_value= */ NULL);
}

int statement_write_text(Store *s, StatementId id, const char *text) {
        return statement_run(s, id, sqlite3_bind_text(s->statements[id], 1, text, -1, SQLITE_STATIC), /* ret_value= */ NULL);
}

int statement_each(Store *s, StatementId id, int rc, int (*each)(Store *s, sqlite3_stmt *st, void *userdata),
                void *userdata) {
        sqlite3_stmt *st = s->statements[id];
        int r = 0;

        if (sqlite3_stmt_busy(st))
                return -EBUSY;
        if (s->failed < 0)
                return s->failed;
        if (rc == SQLITE_OK)
                while (r >= 0 && (rc = sqlite3_step(st)) == SQLITE_ROW)
                        r = each(s, st, userdata);
        (void) sqlite3_reset(st);
        if (r < 0)
                return r;
        return rc == SQLITE_DONE ? 0 : transaction_failed(s, sqlite_result(s->db, rc));
}
