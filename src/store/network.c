/* Rows about networks: usage, denials, learned rules, approvals and grants. */
#include "gatekeeper/rows.h"

#include "store/driver.h"
#include "store/statement.h"

static const ShapeField network_use_table_fields[] = {
        FIELD("sandbox",    chars,  NetworkUse, sandbox),
        FIELD("up_bytes",   uint64, NetworkUse, total.up_bytes),
        FIELD("down_bytes", uint64, NetworkUse, total.down_bytes),
        FIELD("requests",   uint64, NetworkUse, total.requests),
        FIELD("denied",     uint64, NetworkUse, total.denied),
        FIELD("base_up_bytes",   uint64, NetworkUse, base.up_bytes),
        FIELD("base_down_bytes", uint64, NetworkUse, base.down_bytes),
        FIELD("base_requests",   uint64, NetworkUse, base.requests),
        FIELD("base_denied",     uint64, NetworkUse, base.denied),
};
TABLE(network_use_table, NetworkUse, "network_use", 1, PUTS, IN_ORDER("sandbox"));

static const ShapeField denial_table_fields[] = {
        FIELD("sandbox",  borrowed, NetworkDenial, sandbox),
        FIELD("number",   uint64,   NetworkDenial, number),
        FIELD("at",       uint64,   NetworkDenial, at),
        FIELD("kind",     borrowed, NetworkDenial, kind),
        FIELD("protocol", borrowed, NetworkDenial, protocol),
        FIELD("host",     borrowed, NetworkDenial, host),
        FIELD("address",  borrowed, NetworkDenial, address),
        FIELD("port",     uint32,   NetworkDenial, port),
        FIELD("method",   borrowed, NetworkDenial, method),
        FIELD("path",     borrowed, NetworkDenial, path),
        FIELD("rule",     borrowed, NetworkDenial, rule),
        FIELD("reason",   borrowed, NetworkDenial, reason),
        FIELD("text",     borrowed, NetworkDenial, text),
        FIELD("cure",     borrowed, NetworkDenial, cure),
        FIELD("count",    uint64,   NetworkDenial, count),
};
enum { DENIAL_PAGE, DENIAL_INSERT, DENIAL_TRIM };
static const char *const denial_queries[] = {
        [DENIAL_PAGE]   = "WHERE sandbox = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3",
        /* The number follows the last one, or the given one. */
        [DENIAL_INSERT] = ("INSERT INTO denial (sandbox, number, at, kind, protocol, host, address, port, method, path, rule,"
                           " reason, text, cure, count) VALUES (?1, 1 + coalesce("
                           "  (SELECT number FROM denial WHERE sandbox = ?1 ORDER BY number DESC LIMIT 1), ?2),"
                           " ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) RETURNING number"),
        [DENIAL_TRIM]   = "DELETE FROM denial WHERE sandbox = ?1 AND number <= ?2",
};
TABLE(denial_table, NetworkDenial, "denial", 2, 0, QUERIES(denial_queries));
STORE_READER(denial_row, const NetworkDenial);

int store_denial_add(Store *s, const NetworkDenial *d, unsigned keep) {
        bool own = transaction_enter(s);
        int64_t number = 0;
        int r = query_write(s, &denial_table, DENIAL_INSERT, d, NO_VALUES, &number);

        if (r >= 0 && number > (int64_t) keep)
                r = query_run(s, &denial_table, DENIAL_TRIM, VALUES(TEXT(d->sandbox), NUMBER((uint64_t) number - keep)),
                                /* ret_value= */ NULL);
        return transaction_leave(s, own, r);
}

int store_denial_each(Store *s, const char *sandbox, uint64_t before, unsigned limit, int (*each)(const NetworkDenial *d, void *userdata),
                void *userdata) {
        return query_read(s, &denial_table, DENIAL_PAGE, VALUES(TEXT(sandbox), NUMBER(before > 0 ? before : UINT64_MAX), NUMBER(limit)),
                        &(StoreReader) { denial_row, (void (*)(void)) each, userdata });
}

static const ShapeField learned_table_fields[] = {
        FIELD("sandbox",  borrowed, NetworkLearned, sandbox),
        FIELD("protocol", borrowed, NetworkLearned, protocol),
        FIELD("host",     borrowed, NetworkLearned, host),
        FIELD("address",  borrowed, NetworkLearned, address),
        FIELD("port",     uint32,   NetworkLearned, port),
        FIELD("method",   borrowed, NetworkLearned, method),
        FIELD("count",    uint64,   NetworkLearned, count),
        FIELD("at",       uint64,   NetworkLearned, at),
};
enum { LEARNED_OF_SANDBOX, LEARNED_ADD };
static const char *const learned_queries[] = {
        [LEARNED_OF_SANDBOX] = "WHERE sandbox = ?1 ORDER BY host, address, port, protocol, method",
        [LEARNED_ADD]        = ("INSERT INTO learned (sandbox, protocol, host, address, port, method, count, at)"
                                " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE"
                                "  (SELECT count(*) FROM learned WHERE sandbox = ?1) < ?9 OR EXISTS (SELECT 1 FROM learned"
                                "   WHERE sandbox = ?1 AND protocol = ?2 AND host = ?3 AND address = ?4 AND port = ?5 AND method = ?6)"
                                " ON CONFLICT (sandbox, protocol, host, address, port, method)"
                                "  DO UPDATE SET count = count + excluded.count, at = excluded.at"),
};
TABLE(learned_table, NetworkLearned, "learned", 6, 0, QUERIES(learned_queries));
STORE_READER(learned_row, const NetworkLearned);

int store_learned_add(Store *s, const NetworkLearned *l, unsigned keep) {
        return query_write(s, &learned_table, LEARNED_ADD, l, VALUES(NUMBER(keep)), /* ret_value= */ NULL);
}

int store_learned_each(Store *s, const char *sandbox, int (*each)(const NetworkLearned *l, void *userdata), void *userdata) {
        return query_read(s, &learned_table, LEARNED_OF_SANDBOX, VALUES(TEXT(sandbox)),
                        &(StoreReader) { learned_row, (void (*)(void)) each, userdata });
}

static const ShapeField approval_table_fields[] = {
        FIELD("id",          chars,  StoreApproval, id),
        FIELD("ask",         chars,  StoreApproval, ask),
        FIELD("sandbox",     chars,  StoreApproval, sandbox),
        FIELD("tenant",      text,   StoreApproval, tenant),
        FIELD("profile",     text,   StoreApproval, profile),
        FIELD("object",      text,   StoreApproval, object),
        FIELD("rule",        text,   StoreApproval, rule),
        FIELD("status",      chars,  StoreApproval, status),
        FIELD("asked_at",    uint64, StoreApproval, asked_at),
        FIELD("expires_at",  uint64, StoreApproval, expires_at),
        FIELD("answered_at", uint64, StoreApproval, answered_at),
        FIELD("scope",       chars,  StoreApproval, scope),
        FIELD("answered_by", text,   StoreApproval, by),
        FIELD_GIVEN("serial",         StoreApproval, serial),
};
enum { APPROVAL_PAGE, APPROVAL_FIND, APPROVAL_FIND_ASK, APPROVAL_TRIM, APPROVAL_CLOSE };
static const char *const approval_queries[] = {
        [APPROVAL_PAGE]     = ("WHERE (?1 IS NULL OR tenant = ?1) AND (?2 IS NULL OR status = ?2) AND serial < ?3"
                               " ORDER BY serial DESC LIMIT ?4"),
        [APPROVAL_FIND]     = "WHERE id = ?1",
        [APPROVAL_FIND_ASK] = "WHERE ask = ?1",
        [APPROVAL_TRIM]     = "DELETE FROM approval WHERE status <> 'open' AND serial <= (SELECT max(serial) FROM approval) - ?1",
        [APPROVAL_CLOSE]    = ("UPDATE approval SET status = ?2, answered_at = ?3 WHERE status = 'open' AND expires_at <= ?4"
                               " AND (?1 IS NULL OR sandbox = ?1)"),
};
TABLE(approval_table, StoreApproval, "approval", 1, INSERTS | UPDATES, QUERIES(approval_queries));
STORE_READER(approval_row, StoreApproval);

int store_approval_add(Store *s, const StoreApproval *a, unsigned keep) {
        return store_insert_trimmed(s, &approval_table, a, APPROVAL_TRIM, keep);
}

int store_approval_each(Store *s, const char *tenant, const char *status, uint64_t before, unsigned limit,
                int (*each)(StoreApproval *row, void *userdata), void *userdata) {
        return query_read(s, &approval_table, APPROVAL_PAGE,
                        VALUES(TEXT(tenant), TEXT(status), NUMBER(before > 0 ? before : UINT64_MAX), NUMBER(limit)),
                        &(StoreReader) { approval_row, (void (*)(void)) each, userdata });
}

int store_approval_get(Store *s, const char *id, StoreApproval *ret) {
        return query_find(s, &approval_table, APPROVAL_FIND, VALUES(TEXT(id)), ret);
}

int store_approval_get_ask(Store *s, const char *ask, StoreApproval *ret) {
        return query_find(s, &approval_table, APPROVAL_FIND_ASK, VALUES(TEXT(ask)), ret);
}

int store_approval_close(Store *s, const char *sandbox, const char *status, usec_t due, usec_t now) {
        int r = query_run(s, &approval_table, APPROVAL_CLOSE, VALUES(TEXT(sandbox), TEXT(status), NUMBER(now), NUMBER(due)),
                        /* ret_value= */ NULL);

        return r < 0 ? r : sqlite3_changes(s->db);
}

static const ShapeField grant_table_fields[] = {
        FIELD("sandbox", borrowed, NetworkGrant, sandbox),
        FIELD("tenant",  borrowed, NetworkGrant, tenant),
        FIELD("profile", borrowed, NetworkGrant, profile),
        FIELD("rule",    borrowed, NetworkGrant, rule),
        FIELD("at",      uint64,   NetworkGrant, at),
};
static const char *const grant_queries[] = { "WHERE sandbox = ?1 OR (tenant = ?2 AND profile = ?3) ORDER BY serial" };
TABLE(grant_table, NetworkGrant, "network_grant", 1, PUTS, .conflict = "DO NOTHING", QUERIES(grant_queries));
STORE_READER(grant_row, const NetworkGrant);

int store_grant_each(Store *s, const char *sandbox, const char *tenant, const char *profile,
                int (*each)(const NetworkGrant *g, void *userdata), void *userdata) {
        return query_read(s, &grant_table, 0, VALUES(TEXT(sandbox), TEXT(tenant), TEXT(profile)),
                        &(StoreReader) { grant_row, (void (*)(void)) each, userdata });
}
