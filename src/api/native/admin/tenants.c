/* tenants.c: tenants and their quotas, for admins. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/routes/routes.h"
#include "api/native/values.h"
#include "build/book.h"
#include "core/admission.h"
#include "core/ledger.h"
#include "core/tally.h"
#include "core/trees.h"

#define COUNT_MAX 1e9
#define CORES_MAX 1e6
#define MB_MAX    1073741824.0 /* 2^50 bytes */

static int tenants_field_cores(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        double x = json_number_value(v);

        if (!json_is_number(v))
                return json_complain(c, name, "must be a number of cores, such as 1.5");
        if (!(x >= 0 && x <= f->max))
                return json_complain(c, name, "%.15g is out of range (0 to %.15g)", x, f->max);
        *(uint64_t *) (void *) ((char *) target + f->offset) = (uint64_t) (x * 1000 + 0.5);
        return 0;
}

#define AMOUNT(name, field, flags, ...) { name, SHAPE_UINT64, offsetof(Tenant, field), flags, ##__VA_ARGS__ }
#define AMOUNTS(flags)                                                                                                       \
        AMOUNT("sandboxes", sandboxes_max, flags, .max = COUNT_MAX),                                                         \
        AMOUNT("cpuCores", cpu_milli_max, flags, .max = CORES_MAX, .unit = SHAPE_CORES, .json = SHAPE_PARSE(tenants_field_cores)), \
        AMOUNT("memoryMB", memory_bytes_max, flags, .max = MB_MAX, .unit = SHAPE_MEGABYTES),                                 \
        AMOUNT("diskMB", disk_bytes_max, flags, .max = MB_MAX, .unit = SHAPE_MEGABYTES)

static const ShapeField quota_fields[] = { AMOUNTS(SHAPE_NULLABLE | SHAPE_ZERO_NULL) };
static const Shape quota_shape = SHAPE_BODY(quota_fields);

static const ShapeField tenant_usage_fields[] = { AMOUNTS(0) };
static const Shape tenant_usage_shape = SHAPE_BODY(tenant_usage_fields);

typedef struct TenantBody {
        Tenant tenant;
        bool inherit;
} TenantBody;

static const Shape native_tenant_shape = SHAPE_FIELDS(
        { "quotas",  SHAPE_OBJECT, offsetof(TenantBody, tenant), SHAPE_NULLABLE, .shape = &quota_shape },
        { "profile", SHAPE_CHARS,  SHAPE_AT(TenantBody, tenant.profile), .flags = SHAPE_NULLABLE, .max = ACCESS_NAME_MAX },
        { "inherit", SHAPE_BOOL,   offsetof(TenantBody, inherit), SHAPE_NULLABLE });

/* What counts against the quotas: everything that has not ended. */
static Tenant tenants_usage_of(const Manager *m, const char *name) {
        TallySums held = tally_of_tenant(m, name);
        LedgerSums all = ledger_of_tenant(m, name);

        return (Tenant) {
                .sandboxes_max = held.live,
                .cpu_milli_max = held.cpu_milli,
                .memory_bytes_max = held.memory_bytes,
                .disk_bytes_max = ledger_disk(&all),
        };
}

typedef struct NativeTenant {
        const Tenant *tenant;
        Tenant used;
} NativeTenant;

SHAPE_SHOWN(tenant_show_name, NativeTenant, t, json_text_or_null(t->tenant->name));
SHAPE_SHOWN(tenant_show_profile, NativeTenant, t, json_text_or_null(t->tenant->profile[0] ? t->tenant->profile : NULL));
SHAPE_SHOWN(tenant_show_created, NativeTenant, t, json_time(t->tenant->created_at));

static const Shape native_tenant_answer = SHAPE_FIELDS(
        { "name",      SHAPE_TEXT,    0, SHAPE_ALWAYS, .json = SHAPE_SHOW(tenant_show_name) },
        { "quotas",    SHAPE_POINTER, offsetof(NativeTenant, tenant), SHAPE_ALWAYS, .shape = &quota_shape },
        { "profile",   SHAPE_TEXT,    0, .json = SHAPE_SHOW(tenant_show_profile) },
        { "usage",     SHAPE_OBJECT,  offsetof(NativeTenant, used), .shape = &tenant_usage_shape },
        { "createdAt", SHAPE_UINT64,  0, SHAPE_ALWAYS, .unit = SHAPE_TIME, .json = SHAPE_SHOW(tenant_show_created) });

static NativeTenant tenants_show(const Manager *m, const Tenant *t) {
        return (NativeTenant) { t, tenants_usage_of(m, t->name) };
}

static const Tenant *tenants_find(ApiRequest *q) {
        const Tenant *t = access_tenant(q->manager->access, q->parameters[0]);

        if (!t)
                (void) api_error(q, 404, "not_found", NULL, "there is no tenant '%s'", q->parameters[0]);
        return t;
}

/* Replaces all quotas: an omitted quota means no limit. The profile stays unless the request names another,
 * or "": an omission must not remove a restriction. */
static void native_tenant_put(ApiRequest *q) {
        const char *name = q->parameters[0];
        const Tenant *before = access_tenant(q->manager->access, name);
        TenantBody b = { .tenant.created_at = before ? before->created_at : clock_wall_usec() };
        unsigned status = before ? 200 : 201;
        Error error = { 0 };
        int r;

        if (before)
                memcpy(b.tenant.profile, before->profile, sizeof(b.tenant.profile));
        if (api_read(q, &b) < 0 || native_profile_there(q, b.tenant.profile) < 0)
                return;
        if (strlen(name) > ACCESS_NAME_MAX) {
                (void) api_error(q, 400, "invalid", NULL, "the name of a tenant has at most %d bytes, '%.80s…' has %zu",
                                ACCESS_NAME_MAX, name, strlen(name));
                return;
        }
        memcpy(b.tenant.name, name, strlen(name) + 1);
        r = access_tenant_put(q->manager->access, &b.tenant, b.inherit, &error);
        if (r < 0) {
                (void) api_errno(q, r, error.text);
                return;
        }
        admission_wake(q->manager->admission); /* requests that wait may fit by now */
        trees_set_quota(q->manager, name);
        (void) api_show(q, status, &(NativeTenant[]) { tenants_show(q->manager, access_tenant(q->manager->access, name)) });
}

static void native_tenant_get(ApiRequest *q) {
        const Tenant *t = tenants_find(q);

        if (t)
                (void) api_show(q, 200, &(NativeTenant[]) { tenants_show(q->manager, t) });
}

static void native_tenant_list(ApiRequest *q) {
        _cleanup_page_ NativePage p = NATIVE_ALL(q);
        _cleanup_free_ const Tenant *const *tenants = NULL;
        size_t n = access_tenants(q->manager->access, &tenants);
        int r = tenants ? 0 : -ENOMEM;

        for (size_t i = 0; i < n && r >= 0; i++)
                r = native_page_add(&p, &(NativeTenant[]) { tenants_show(q->manager, tenants[i]) }, i);
        native_page_answer(&p, r);
}

static void native_tenant_delete(ApiRequest *q) {
        const Tenant *t = tenants_find(q);
        Error error = { 0 };
        int r;

        if (!t)
                return;
        if (tenants_usage_of(q->manager, t->name).sandboxes_max > 0) {
                (void) api_error(q, 409, "conflict", "delete its sandboxes first", "tenant '%s' has sandboxes", t->name);
                return;
        }
        r = access_tenant_remove(q->manager->access, q->parameters[0], &error);
        if (r >= 0 && q->api->rooms.builds) /* a later tenant of the same name must not inherit them */
                build_records_forget(q->api->rooms.builds, q->parameters[0], /* name= */ NULL);
        native_answer_deleted(q, q->parameters[0], r, error.text);
}

const ApiRoute tenant_routes[] = {
        { "PUT",    "/api/tenant/{name}", MAY_ADMIN, .while_recovering = true, .handle = native_tenant_put, JSON_BODY(tenant), ANSWER(tenant) },
        { "GET",    "/api/tenant",        MAY_ADMIN, .handle = native_tenant_list, ANSWER_LIST(tenant) },
        { "GET",    "/api/tenant/{name}", MAY_ADMIN, .handle = native_tenant_get, ANSWER(tenant) },
        { "DELETE", "/api/tenant/{name}", MAY_ADMIN, .handle = native_tenant_delete, ANSWER(deleted_name) },
        { 0 },
};
