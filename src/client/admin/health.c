/* cove health: whether the daemon and its sandboxes are well. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "client/table.h"
#include "client/usage.h"
#include "client/verbs.h"

#define EXIT_DEGRADED  1
#define EXIT_UNHEALTHY 2

typedef struct HealthOptions {
        Common common;
        bool targets;
} HealthOptions;

APPLY_FLAG(HealthOptions, targets)

static const Option health_options[] = {
        { "targets", 0, NULL, "also what is aimed at, and what is", apply_targets },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "health [options]",
        .about = "Tells whether the daemon and its sandboxes are well, and if not, why.",
        .more = "Exit status: 0 healthy, 1 degraded, 2 unhealthy, 125 when the daemon cannot be asked.",
        USAGE_OPTIONS(health_options),
};

static const struct {
        const char *name;
        int status;
        Colour colour;
} states[] = {
        { "healthy",   0,              COLOUR_GREEN  },
        { "degraded",  EXIT_DEGRADED,  COLOUR_YELLOW },
        { "unhealthy", EXIT_UNHEALTHY, COLOUR_RED    },
};

static void print_share(const char *name, const json_t *health, const char *key) {
        if (json_has(health, key))
                printf("%-12s %9.1f %%\n", name, json_get_number(health, key, 0) * 100);
        else
                printf("%-12s %9s\n", name, "-");
}

static void client_health_print_count(const char *name, const json_t *health, const char *key) {
        printf("%-12s %9lld\n", name, (long long) json_get_integer(health, key, 0));
}

static void print_targets(const json_t *list) {
        static const char *const heads[] = { "TARGET", ">BELOW", ">NOW", "UNIT", "MET", NULL };
        _cleanup_table_ Table *t = table_new(heads);
        TableLook look = table_look(STDOUT_FILENO);
        const json_t *item;
        size_t i;

        json_array_foreach(list, i, item) {
                bool known = json_has(item, "met");

                table_cell(t, json_get_text(item, "name"));
                table_cell_format(t, "%g", json_get_number(item, "below", 0));
                if (known)
                        table_cell_format(t, "%.4g", json_get_number(item, "value", 0));
                else
                        table_cell(t, NULL);
                table_cell(t, json_get_text(item, "unit"));
                table_cell(t, !known ? NULL : json_get_bool(item, "met") ? "yes" : "no");
        }
        printf("\n");
        (void) table_print(t, stdout, &look);
}

static int client_health_show(const json_t *health, bool targets) {
        const char *status = json_get_text_or(health, "status", "");
        const json_t *reason;
        bool colours = colours_wanted(STDOUT_FILENO);
        size_t i, k = 0;

        while (k < ELEMENTSOF(states) && strcmp(states[k].name, status) != 0)
                k++;
        if (k == ELEMENTSOF(states))
                return EXIT_OWN_FAILURE;
        printf("%s%s%s\n", colours ? colour_on(states[k].colour) : "", status, colours ? colour_off() : "");
        json_array_foreach(json_object_get(health, "reasons"), i, reason)
                printf("  %s (%s: %g)\n", json_get_text_or(reason, "text", ""), json_get_text_or(reason, "signal", ""),
                                json_get_number(reason, "value", 0));
        client_health_print_count("active", health, "activeCount");
        client_health_print_count("stuck", health, "stuckCount");
        client_health_print_count("orphaned", health, "orphanedCount");
        client_health_print_count("unhealthy", health, "unhealthyCount");
        client_health_print_count("queue", health, "queueDepth");
        print_share("failures", health, "failureRate");
        print_share("timeouts", health, "timeoutRate");
        printf("%-12s %9zu\n", "alerts", json_array_size(json_object_get(health, "activeAlerts")));
        if (targets)
                print_targets(json_object_get(health, "targets"));
        return states[k].status;
}

int verb_health(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        HealthOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) != 0)
                return status;
        url_begin(&u, "/api/sandbox/health");
        if (client_need(&place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (!o.common.json)
                return client_health_show(a.json, o.targets);
        answer_print(&a);
        return 0;
}
