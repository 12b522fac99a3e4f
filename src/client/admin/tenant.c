/* cove tenant: tenants and their quotas. */

#include <stdio.h>

#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"

static const Option set_options[] = {
        { "sandboxes", 0, "N",    "sandboxes at the same time",       BODY_COUNT("quotas.sandboxes")    },
        { "cpus",      0, "N",    "cores of all its sandboxes together",  BODY_CPUS("quotas.cpuCores")      },
        { "memory",    0, "SIZE", "memory of all its sandboxes together", BODY_MEGABYTES("quotas.memoryMB", 0) },
        { "disk",      0, "SIZE", "disk of all its sandboxes together",   BODY_MEGABYTES("quotas.diskMB", 0)   },
        { "inherit",   0, NULL,   "take over what is left of a removed tenant of that name", BODY_TRUE("inherit") },
        { "profile",   0, "PROFILE", "profile that the tenant's keys are bound to", BODY_TEXT("profile")      },
};

/* "3/20", "3" without a quota. A scale says that it is megabytes. */
static void cell_quota(Table *t, const json_t *tenant, const Column *c) {
        double used = json_get_number(json_object_get(tenant, "usage"), c->key, -1), limit = json_get_number(json_object_get(tenant, "quotas"), c->key, 0);
        char a[HUMAN_MAX] = "", b[HUMAN_MAX] = "";

        if (used >= 0)
                c->scale > 0 ? (void) human_megabytes(used, a) : (void) snprintf(a, sizeof(a), "%g", used);
        if (limit > 0)
                c->scale > 0 ? (void) human_megabytes(limit, b) : (void) snprintf(b, sizeof(b), "%g", limit);
        table_cell_format(t, "%s%s%s", a, limit > 0 ? "/" : "", b);
}

static const Column tenant_columns[] = {
        { "NAME", "name" },
        { ">SANDBOXES", "sandboxes", cell_quota },
        { ">CPUS", "cpuCores", cell_quota },
        { ">MEMORY", "memoryMB", cell_quota, .scale = 1 },
        { ">DISK", "diskMB", cell_quota, .scale = 1 },
        { "MADE", "createdAt" },
};

static const Verb tenant_parts[] = {
        { "set", "tenant set NAME [options]", "Creates a tenant, or changes its quotas. A quota that is not given is unlimited.",
          .more = "Example: cove tenant set team-a --sandboxes 20 --memory 8G", VERB_OPTIONS(set_options), VERB_ONE("no name given"),
          .method = "PUT", .path = "/api/tenant/%", .body = "{}" },
        { "ls", "tenant ls [options]", "Lists the tenants with their usage and quotas.", .path = "/api/tenant", VERB_COLUMNS(tenant_columns) },
        { "rm", "tenant rm NAME… [options]", "Removes tenants. Their keys must be removed before.", VERB_SOME("no tenant given"),
          VERB_DELETE("/api/tenant/%") },
};

const Verb command_tenant = {
        .name = "tenant",
        .about = "Sets, lists and removes tenants. A tenant's keys have access to its sandboxes only.",
        VERB_PARTS(tenant_parts),
};
