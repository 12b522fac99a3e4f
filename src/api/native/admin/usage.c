/* usage.c: resource usage of tenants. An admin sees all of them, a tenant only itself. */

#include <errno.h>

#include "api/native/routes/routes.h"
#include "core/ledger.h"

typedef struct UsageKind {
        uint64_t bytes, count;
} UsageKind;

typedef struct NativeUsage {
        const char *tenant; /* "": none */
        UsageKind kinds[_LEDGER_MAX];
        uint64_t disk, disk_quota;
} NativeUsage;

static const ShapeField usage_kind_fields[] = {
        { "bytes", SHAPE_UINT64, offsetof(UsageKind, bytes) },
        { "count", SHAPE_UINT64, offsetof(UsageKind, count) },
};
static const Shape usage_kind_shape = SHAPE_BODY(usage_kind_fields);

#define KIND(name, kind)   { name, SHAPE_OBJECT, offsetof(NativeUsage, kinds[kind]), .shape = &usage_kind_shape }
#define NUMBER(name, kind) { name, SHAPE_UINT64, offsetof(NativeUsage, kinds[kind].bytes) }

static const ShapeField usage_disk_fields[] = {
        { "bytes", SHAPE_UINT64, offsetof(NativeUsage, disk) },
        { "quotaBytes", SHAPE_UINT64, offsetof(NativeUsage, disk_quota), SHAPE_ZERO_NULL },
        KIND("disks", LEDGER_DISK),
        KIND("volumes", LEDGER_VOLUME),
        KIND("snapshots", LEDGER_SNAPSHOT),
        KIND("journals", LEDGER_JOURNAL),
        KIND("artifacts", LEDGER_ARTIFACT),
        KIND("recordings", LEDGER_RECORDING),
        KIND("spools", LEDGER_SPOOL),
        KIND("uploads", LEDGER_UPLOAD),
        KIND("templates", LEDGER_TEMPLATE),
};
static const Shape usage_disk_shape = SHAPE_BODY(usage_disk_fields);

SHAPE_SHOWN(usage_show_tenant, NativeUsage, u, json_text_or_null(*u->tenant ? u->tenant : NULL));

SHAPE_SHOWN(usage_show_gate_cpu, NativeUsage, u, json_real((double) u->kinds[LEDGER_GATE_CPU].bytes / USEC_PER_SEC));

static const Shape usage_row_shape = SHAPE_FIELDS(
        { "tenant", SHAPE_TEXT, 0, .json = SHAPE_SHOW(usage_show_tenant) },
        NUMBER("sandboxes", LEDGER_SANDBOXES),
        NUMBER("executions", LEDGER_EXECUTIONS),
        NUMBER("builds", LEDGER_BUILDS),
        NUMBER("requests", LEDGER_REQUESTS),
        NUMBER("pids", LEDGER_PIDS),
        NUMBER("descriptors", LEDGER_DESCRIPTORS),
        NUMBER("memoryBytes", LEDGER_MEMORY),
        KIND("answers", LEDGER_ANSWER),
        { "gateCpuSeconds", SHAPE_DOUBLE, 0, .json = SHAPE_SHOW(usage_show_gate_cpu) },
        { "disk", SHAPE_OBJECT, 0, .shape = &usage_disk_shape });

typedef struct UsageAnswer {
        json_t *tenants;
} UsageAnswer;

static const Shape native_usage_answer = SHAPE_FIELDS(
        { "tenants", SHAPE_LIST, offsetof(UsageAnswer, tenants), .shape = &usage_row_shape, .json = SHAPE_MADE });

typedef struct UsageList {
        ApiRequest *q;
        json_t *rows;
} UsageList;

static int usage_add(const char *tenant, const LedgerSums *sums, void *userdata) {
        UsageList *l = userdata;
        NativeUsage u = { .tenant = tenant, .disk = ledger_disk(sums), .disk_quota = ledger_limit(l->q->manager, tenant, LEDGER_VOLUME) };

        if (!principal_sees(&l->q->who, tenant))
                return 0;
        for (LedgerKind k = 0; k < _LEDGER_MAX; k++)
                u.kinds[k] = (UsageKind) { sums->amounts[k], sums->counts[k] };
        return json_array_append_new(l->rows, shape_show(&usage_row_shape, &u)) < 0 ? -ENOMEM : 0;
}

static void native_usage_get(ApiRequest *q) {
        _cleanup_json_ json_t *rows = json_array();
        UsageList l = { q, rows };
        int r = rows ? ledger_each(q->manager, usage_add, &l) : -ENOMEM;

        if (r < 0)
                (void) api_errno(q, r, NULL);
        else
                (void) api_show(q, 200, &(const UsageAnswer) { rows });
}

const ApiRoute usage_routes[] = {
        { "GET", "/api/usage", MAY_SEE, .handle = native_usage_get, ANSWER(usage) },
        { 0 },
};
