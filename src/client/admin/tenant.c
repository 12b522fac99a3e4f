/* cove tenant: tenants and their quotas. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/parse.h"
#include "client/human.h"
#include "client/sandbox/several.h"
#include "client/subverb.h"
#include "client/table.h"
#include "client/verbs.h"

typedef struct TenantOptions {
        Common common;
        JsonBuilder quotas;
} TenantOptions;

static int tenant_put_size(void *target, const char *option, const char *key, const char *value, Error *reterr) {
        uint64_t bytes;
        int r = value_size(option, value, &bytes, reterr);

        if (r >= 0)
                json_put_number(&((TenantOptions *) target)->quotas, key, (double) bytes / 1048576);
        return r;
}

static int tenant_apply_memory(void *target, const char *value, Error *reterr) {
        return tenant_put_size(target, "--memory", "memoryMB", value, reterr);
}

static int tenant_apply_disk(void *target, const char *value, Error *reterr) {
        return tenant_put_size(target, "--disk", "diskMB", value, reterr);
}

static int apply_sandboxes(void *target, const char *value, Error *reterr) {
        uint64_t n;
        int r = value_number("--sandboxes", value, 0, INT64_MAX, &n, reterr);

        if (r >= 0)
                json_put_integer(&((TenantOptions *) target)->quotas, "sandboxes", (int64_t) n);
        return r;
}

static int tenant_apply_cpus(void *target, const char *value, Error *reterr) {
        uint32_t milli;
        int r = parse_cpus(value, &milli);

        if (r < 0)
                return error_set(reterr, r, "--cpus: '%s' is not a number of cores, as in 0.5", value);
        json_put_number(&((TenantOptions *) target)->quotas, "cpuCores", milli / 1000.0);
        return 0;
}

static const Option set_options[] = {
        { "sandboxes", 0, "N",    "so many at the same time",      apply_sandboxes },
        { "cpus",      0, "N",    "cores of all of them together",  tenant_apply_cpus      },
        { "memory",    0, "SIZE", "memory of all of them together", tenant_apply_memory    },
        { "disk",      0, "SIZE", "disk of all of them together",   tenant_apply_disk      },
        COMMON_OPTIONS,
};

static const Option plain_options[] = { COMMON_OPTIONS };

static const Usage set_usage = {
        .synopsis = "tenant set NAME [options]",
        .about = "Makes a tenant, or gives it other quotas. A quota that is not named is no limit.",
        .more = "Example: cove tenant set team-a --sandboxes 20 --memory 8G",
        USAGE_OPTIONS(set_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no name given",
};

static const Usage ls_usage = {
        .synopsis = "tenant ls [options]",
        .about = "Lists the tenants: what they use, of what they may.",
        USAGE_OPTIONS(plain_options),
};

static const Usage rm_usage = {
        .synopsis = "tenant rm NAME… [options]",
        .about = "Removes tenants. Their keys must be removed before.",
        USAGE_OPTIONS(plain_options),
        .operands_min = 1,
        .operands_max = USAGE_ANY_NUMBER,
        .missing = "no tenant given",
};

static int tenant_set(const Place *place, void *options, const Operands *words) {
        TenantOptions *o = options;
        _cleanup_builder_ JsonBuilder b = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        json_put_object(&b, "quotas", &o->quotas);
        url_begin(&u, "/api/tenant");
        url_part(&u, words->items[0]);
        if (client_need(place, "PUT", &u, &b, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                puts(words->items[0]);
        return 0;
}

/* "3/20", "3" without a quota. */
static void tenant_cell_count(Table *t, const json_t *usage, const json_t *quotas, const char *key) {
        double used = json_get_number(usage, key, -1), limit = json_get_number(quotas, key, 0);

        if (limit > 0 && used >= 0)
                table_cell_format(t, "%g/%g", used, limit);
        else if (limit > 0)
                table_cell_format(t, "/%g", limit);
        else if (used >= 0)
                table_cell_format(t, "%g", used);
        else
                table_cell(t, NULL);
}

static void cell_size(Table *t, const json_t *usage, const json_t *quotas, const char *key) {
        double used = json_get_number(usage, key, -1), limit = json_get_number(quotas, key, 0);
        char a[HUMAN_MAX], b[HUMAN_MAX];

        if (used < 0 && limit <= 0)
                table_cell(t, NULL);
        else
                table_cell_format(t, "%s%s%s", used >= 0 ? human_megabytes(used, a) : "", limit > 0 ? "/" : "",
                                limit > 0 ? human_megabytes(limit, b) : "");
}

static void tenant_add_row(Table *t, const json_t *tenant) {
        const json_t *usage = json_object_get(tenant, "usage"), *quotas = json_object_get(tenant, "quotas");

        table_cell(t, json_get_text(tenant, "name"));
        tenant_cell_count(t, usage, quotas, "sandboxes");
        tenant_cell_count(t, usage, quotas, "cpuCores");
        cell_size(t, usage, quotas, "memoryMB");
        cell_size(t, usage, quotas, "diskMB");
        table_cell(t, json_get_text(tenant, "createdAt"));
}

static int tenant_list(const Place *place, void *options, const Operands *words) {
        static const char *const heads[] = { "NAME", ">SANDBOXES", ">CPUS", ">MEMORY", ">DISK", "MADE", NULL };
        const TenantOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/tenant");
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        return subverb_show_list(&a, o->common.json, heads, tenant_add_row);
}

static int remove_tenants(const Place *place, void *options, const Operands *words) {
        const TenantOptions *o = options;
        Several several = {
                .place = place, .method = "DELETE", .what = "/api/tenant", .root = true, .json = o->common.json,
        };

        return several_ask(&several, words->items, words->n);
}

int verb_tenant(int argc, char **argv) {
        static const Subverb subverbs[] = {
                { "set", &set_usage, tenant_set },
                { "ls", &ls_usage, tenant_list },
                { "rm", &rm_usage, remove_tenants },
        };
        TenantOptions o = { 0 };
        int status = subverb_run("tenant", "Sets, lists and removes tenants: keys of a tenant see its sandboxes only.", subverbs,
                        ELEMENTSOF(subverbs), argc, argv, &o);

        json_builder_done(&o.quotas);
        return status;
}
