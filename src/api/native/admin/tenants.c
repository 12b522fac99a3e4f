/* tenants.c: tenants and their quotas, by admins. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/native.h"
#include "build/book.h"
#include "core/admission.h"
#include "core/tally.h"

#define COUNT_MAX 1e9
#define CORES_MAX 1e6
#define MB_MAX    1073741824.0 /* 2^50 bytes */

typedef struct TenantBody {
        Tenant tenant;
} TenantBody;

static int tenants_field_cores(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        double x = json_number_value(v);

        if (!json_is_number(v))
                return json_complain(c, name, "must be a number of cores, such as 1.5");
        if (!(x >= 0 && x <= f->max))
                return json_complain(c, name, "%.15g is out of range (0 to %.15g)", x, f->max);
        *(uint64_t *) (void *) ((char *) target + f->offset) = (uint64_t) (x * 1000 + 0.5);
        return 0;
}

#define QUOTA(field) offsetof(Tenant, field)
static const ShapeField quota_fields[] = {
        { "sandboxes", SHAPE_UINT64, QUOTA(sandboxes_max),    SHAPE_NULLABLE, .max = COUNT_MAX                             },
        { "cpuCores",  SHAPE_CUSTOM, QUOTA(cpu_milli_max),    SHAPE_NULLABLE, .max = CORES_MAX, .json = SHAPE_PARSE(tenants_field_cores) },
        { "memoryMB",  SHAPE_UINT64, QUOTA(memory_bytes_max), SHAPE_NULLABLE, .max = MB_MAX, .unit = SHAPE_MEGABYTES       },
        { "diskMB",    SHAPE_UINT64, QUOTA(disk_bytes_max),   SHAPE_NULLABLE, .max = MB_MAX, .unit = SHAPE_MEGABYTES       },
};
static const Shape quota_shape = SHAPE_BODY(quota_fields);

static const ShapeField native_tenant_fields[] = {
        { "quotas", SHAPE_OBJECT, offsetof(TenantBody, tenant), SHAPE_NULLABLE,
          .shape = &quota_shape },
};
const Shape native_tenant_shape = SHAPE_BODY(native_tenant_fields);

static json_t *tenants_amount(uint64_t value, uint64_t unit) {
        return value % unit == 0 ? json_integer((json_int_t) (value / unit)) : json_real((double) value / (double) unit);
}

static json_t *quota(uint64_t value, uint64_t unit) {
        return value == 0 ? json_null() : tenants_amount(value, unit);
}

/* What counts against the quotas: everything that has not ended. */
static Tenant tenants_usage_of(const Manager *m, const char *name) {
        TallySums held = tally_of_tenant(m, name);

        return (Tenant) {
                .sandboxes_max = held.live,
                .cpu_milli_max = held.cpu_milli,
                .memory_bytes_max = held.memory_bytes,
                .disk_bytes_max = held.disk_bytes,
        };
}

static json_t *amounts_json(const Tenant *t, json_t *(*value)(uint64_t value, uint64_t unit)) {
        return json_pack("{s:o,s:o,s:o,s:o}",
                        "sandboxes", value(t->sandboxes_max, 1),
                        "cpuCores", value(t->cpu_milli_max, 1000),
                        "memoryMB", value(t->memory_bytes_max, 1 << 20),
                        "diskMB", value(t->disk_bytes_max, 1 << 20));
}

static json_t *tenant_json(const Manager *m, const Tenant *t) {
        Tenant used = tenants_usage_of(m, t->name);

        return json_pack("{s:o,s:o,s:o,s:o}",
                        "name", json_text_or_null(t->name),
                        "quotas", amounts_json(t, quota),
                        "usage", amounts_json(&used, tenants_amount),
                        "createdAt", json_time(t->created_at));
}

static const Tenant *tenants_find(ApiRequest *q) {
        const Tenant *t = access_tenant(q->manager->access, q->parameters[0]);

        if (!t)
                (void) api_error(q, 404, "not_found", NULL, "there is no tenant '%s'", q->parameters[0]);
        return t;
}

/* Replaces all quotas: what is not named has no limit. */
void native_tenant_put(ApiRequest *q) {
        const char *name = q->parameters[0];
        const Tenant *before = access_tenant(q->manager->access, name);
        TenantBody b = { .tenant.created_at = before ? before->created_at : clock_wall_usec() };
        unsigned status = before ? 200 : 201;
        Error error = { 0 };
        int r;

        if (api_read(q, &b) < 0)
                return;
        if (strlen(name) > ACCESS_NAME_MAX) {
                (void) api_error(q, 400, "invalid", NULL, "the name of a tenant has at most %d bytes, '%.80s…' has %zu",
                                ACCESS_NAME_MAX, name, strlen(name));
                return;
        }
        memcpy(b.tenant.name, name, strlen(name) + 1);
        r = access_tenant_put(q->manager->access, &b.tenant, &error);
        if (r < 0) {
                (void) api_errno(q, r, error.text);
                return;
        }
        admission_wake(q->manager->admission); /* there may be room for who waits */
        (void) api_answer(q, status, tenant_json(q->manager, access_tenant(q->manager->access, name)));
}

void native_tenant_get(ApiRequest *q) {
        const Tenant *t = tenants_find(q);

        if (t)
                (void) api_answer(q, 200, tenant_json(q->manager, t));
}

void native_tenant_list(ApiRequest *q) {
        const Tenant *const *tenants = NULL;
        size_t n = access_tenants(q->manager->access, &tenants);
        json_t *list = json_array();

        for (size_t i = 0; i < n; i++)
                (void) json_array_append_new(list, tenant_json(q->manager, tenants[i]));
        if (!tenants || json_array_size(list) != n) {
                json_decref(list);
                (void) api_errno(q, -ENOMEM, NULL);
        } else
                (void) api_answer(q, 200, list);
        free((void *) tenants);
}

void native_tenant_delete(ApiRequest *q) {
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
        if (r >= 0 && q->api->rooms.builds) /* whoever gets the name next must not inherit */
                build_records_forget(q->api->rooms.builds, q->parameters[0], /* name= */ NULL);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                (void) api_answer(q, 200, json_pack("{s:o,s:b}", "name", json_text_or_null(q->parameters[0]), "deleted", 1));
}
