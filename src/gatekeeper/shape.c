/* shape.c: the shapes of denials and approvals. */

#include "base/macro.h"
#include "gatekeeper/gatekeeper.h"

static const ShapeField network_denial_fields[] = {
        { "number",   SHAPE_UINT64,   SHAPE_AT(NetworkDenial, number) },
        { "time",     SHAPE_UINT64,   SHAPE_AT(NetworkDenial, at),    .flags = SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "kind",     SHAPE_BORROWED, SHAPE_AT(NetworkDenial, kind),  .flags = SHAPE_ALWAYS },
        { "protocol", SHAPE_BORROWED, SHAPE_AT(NetworkDenial, protocol) },
        { "host",     SHAPE_BORROWED, SHAPE_AT(NetworkDenial, host) },
        { "address",  SHAPE_BORROWED, SHAPE_AT(NetworkDenial, address) },
        { "port",     SHAPE_UINT32,   SHAPE_AT(NetworkDenial, port),  .flags = SHAPE_ZERO_NULL },
        { "method",   SHAPE_BORROWED, SHAPE_AT(NetworkDenial, method) },
        { "path",     SHAPE_BORROWED, SHAPE_AT(NetworkDenial, path) },
        { "rule",     SHAPE_BORROWED, SHAPE_AT(NetworkDenial, rule) },
        { "reason",   SHAPE_BORROWED, SHAPE_AT(NetworkDenial, reason) },
        { "text",     SHAPE_BORROWED, SHAPE_AT(NetworkDenial, text) },
        { "cure",     SHAPE_BORROWED, SHAPE_AT(NetworkDenial, cure) },
        { "count",    SHAPE_UINT64,   SHAPE_AT(NetworkDenial, count) },
};
const Shape network_denial_shape = SHAPE_OF(network_denial, NetworkDenial);

static const ShapeField approval_fields[] = {
        { "id",         SHAPE_CHARS,  SHAPE_AT(StoreApproval, id),       .flags = SHAPE_ALWAYS },
        { "status",     SHAPE_CHARS,  SHAPE_AT(StoreApproval, status),   .flags = SHAPE_ALWAYS },
        { "sandbox",    SHAPE_CHARS,  SHAPE_AT(StoreApproval, sandbox),  .flags = SHAPE_ALWAYS },
        { "tenant",     SHAPE_TEXT,   SHAPE_AT(StoreApproval, tenant) },
        { "profile",    SHAPE_TEXT,   SHAPE_AT(StoreApproval, profile) },
        { "object",     SHAPE_TEXT,   SHAPE_AT(StoreApproval, object),   .flags = SHAPE_ALWAYS },
        { "rule",       SHAPE_TEXT,   SHAPE_AT(StoreApproval, rule),     .flags = SHAPE_ALWAYS },
        { "askedAt",    SHAPE_UINT64, SHAPE_AT(StoreApproval, asked_at), .flags = SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "expiresAt",  SHAPE_UINT64, SHAPE_AT(StoreApproval, expires_at), .unit = SHAPE_TIME },
        { "answeredAt", SHAPE_UINT64, SHAPE_AT(StoreApproval, answered_at), .unit = SHAPE_TIME },
        { "scope",      SHAPE_CHARS,  SHAPE_AT(StoreApproval, scope) },
        { "by",         SHAPE_TEXT,   SHAPE_AT(StoreApproval, by) },
};
const Shape approval_shape = SHAPE_OF(approval, StoreApproval);
