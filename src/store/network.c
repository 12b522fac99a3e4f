#include "gatekeeper/rows.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "store/statement.h"
#include "store/tables.h"

static int bind_text_or_null(sqlite3_stmt *st, int parameter, const char *text) {
        return text ? sqlite3_bind_text(st, parameter, text, -1, SQLITE_STATIC) : sqlite3_bind_null(st, parameter);
}

static int bind_number(sqlite3_stmt *st, int parameter, uint64_t value) {
        return sqlite3_bind_int64(st, parameter, (sqlite3_int64) MIN_OF(value, (uint64_t) INT64_MAX));
}

/* 0 is as good as no bound. */
static int bind_before(sqlite3_stmt *st, int parameter, uint64_t before) {
        return bind_number(st, parameter, before > 0 ? before : (uint64_t) INT64_MAX);
}

/* What was used. */

static const ShapeField use_fields[] = {
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
const FieldTable network_use_table = { "network_use", use_fields, ELEMENTSOF(use_fields), 1 };

int store_network_use_put(Store *s, const NetworkUse *use) {
        return statement_write(s, STATEMENT_NETWORK_USE_PUT, &network_use_table, table_columns(&network_use_table), use);
}

typedef struct UseEach {
        int (*each)(const NetworkUse *use, void *userdata);
        void *userdata;
} UseEach;

static int use_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const UseEach *e = userdata;
        NetworkUse row = { 0 };
        int r = table_load(&network_use_table, st, 0, &row);

        return r < 0 ? r : e->each(&row, e->userdata);
}

int store_network_use_each(Store *s, int (*each)(const NetworkUse *use, void *userdata), void *userdata) {
        UseEach e = { each, userdata };

        return statement_each(s, STATEMENT_NETWORK_USE_SELECT, SQLITE_OK, use_row, &e);
}

/* What was denied. */

static const ShapeField denial_fields[] = {
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
const FieldTable denial_table = { "denial", denial_fields, ELEMENTSOF(denial_fields), 2 };

int store_denial_add(Store *s, const NetworkDenial *d, unsigned keep) {
        sqlite3_stmt *insert = s->statements[STATEMENT_DENIAL_INSERT], *trim = s->statements[STATEMENT_DENIAL_TRIM];
        bool own = transaction_enter(s);
        int64_t number = 0;
        int rc, r;

        r = statement_run(s, STATEMENT_DENIAL_INSERT, table_bind(&denial_table, insert, table_columns(&denial_table), d), &number);
        if (r >= 0 && number > (int64_t) keep) {
                rc = sqlite3_bind_text(trim, 1, d->sandbox, -1, SQLITE_STATIC);
                if (rc == SQLITE_OK)
                        rc = sqlite3_bind_int64(trim, 2, number - (int64_t) keep);
                r = statement_run(s, STATEMENT_DENIAL_TRIM, rc, /* ret_value= */ NULL);
        }
        return transaction_leave(s, own, r);
}

typedef struct DenialEach {
        int (*each)(const NetworkDenial *d, void *userdata);
        void *userdata;
} DenialEach;

static int denial_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const DenialEach *e = userdata;
        NetworkDenial row = { 0 };
        int r = table_load(&denial_table, st, 0, &row);

        return r < 0 ? r : e->each(&row, e->userdata);
}

int store_denial_each(Store *s, const char *sandbox, uint64_t before, unsigned limit, int (*each)(const NetworkDenial *d, void *userdata),
                void *userdata) {
        sqlite3_stmt *st = s->statements[STATEMENT_DENIAL_SELECT];
        DenialEach e = { each, userdata };
        int rc;

        rc = sqlite3_bind_text(st, 1, sandbox, -1, SQLITE_STATIC);
        if (rc == SQLITE_OK)
                rc = bind_before(st, 2, before);
        if (rc == SQLITE_OK)
                rc = bind_number(st, 3, limit);
        return statement_each(s, STATEMENT_DENIAL_SELECT, rc, denial_row, &e);
}

/* What was learned. */

static const ShapeField learned_fields[] = {
        FIELD("sandbox",  borrowed, NetworkLearned, sandbox),
        FIELD("protocol", borrowed, NetworkLearned, protocol),
        FIELD("host",     borrowed, NetworkLearned, host),
        FIELD("address",  borrowed, NetworkLearned, address),
        FIELD("port",     uint32,   NetworkLearned, port),
        FIELD("method",   borrowed, NetworkLearned, method),
        FIELD("count",    uint64,   NetworkLearned, count),
        FIELD("at",       uint64,   NetworkLearned, at),
};
const FieldTable learned_table = { "learned", learned_fields, ELEMENTSOF(learned_fields), 6 };

int store_learned_add(Store *s, const NetworkLearned *l, unsigned keep) {
        sqlite3_stmt *st = s->statements[STATEMENT_LEARNED_ADD];
        int rc = table_bind(&learned_table, st, table_columns(&learned_table), l);

        if (rc == SQLITE_OK)
                rc = bind_number(st, (int) table_columns(&learned_table) + 1, keep);
        return statement_run(s, STATEMENT_LEARNED_ADD, rc, /* ret_value= */ NULL);
}

typedef struct LearnedEach {
        int (*each)(const NetworkLearned *l, void *userdata);
        void *userdata;
} LearnedEach;

static int learned_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const LearnedEach *e = userdata;
        NetworkLearned row = { 0 };
        int r = table_load(&learned_table, st, 0, &row);

        return r < 0 ? r : e->each(&row, e->userdata);
}

int store_learned_each(Store *s, const char *sandbox, int (*each)(const NetworkLearned *l, void *userdata), void *userdata) {
        sqlite3_stmt *st = s->statements[STATEMENT_LEARNED_SELECT];
        LearnedEach e = { each, userdata };

        return statement_each(s, STATEMENT_LEARNED_SELECT, sqlite3_bind_text(st, 1, sandbox, -1, SQLITE_STATIC), learned_row, &e);
}

/* What was granted. */

static const ShapeField grant_fields[] = {
        FIELD("sandbox", borrowed, NetworkGrant, sandbox),
        FIELD("tenant",  borrowed, NetworkGrant, tenant),
        FIELD("profile", borrowed, NetworkGrant, profile),
        FIELD("rule",    borrowed, NetworkGrant, rule),
        FIELD("at",      uint64,   NetworkGrant, at),
};
const FieldTable grant_table = { "network_grant", grant_fields, ELEMENTSOF(grant_fields), 1 };

int store_grant_add(Store *s, const NetworkGrant *g) {
        return statement_write(s, STATEMENT_GRANT_INSERT, &grant_table, table_columns(&grant_table), g);
}

typedef struct GrantEach {
        int (*each)(const NetworkGrant *g, void *userdata);
        void *userdata;
} GrantEach;

static int grant_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const GrantEach *e = userdata;
        NetworkGrant row = { 0 };
        int r = table_load(&grant_table, st, 0, &row);

        return r < 0 ? r : e->each(&row, e->userdata);
}

int store_grant_each(Store *s, const char *sandbox, const char *tenant, const char *profile,
                int (*each)(const NetworkGrant *g, void *userdata), void *userdata) {
        sqlite3_stmt *st = s->statements[STATEMENT_GRANT_SELECT];
        GrantEach e = { each, userdata };
        int rc;

        rc = bind_text_or_null(st, 1, sandbox);
        if (rc == SQLITE_OK)
                rc = bind_text_or_null(st, 2, tenant);
        if (rc == SQLITE_OK)
                rc = bind_text_or_null(st, 3, profile);
        return statement_each(s, STATEMENT_GRANT_SELECT, rc, grant_row, &e);
}
