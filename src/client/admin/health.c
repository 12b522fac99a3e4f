/* cove health: the health of the daemon and its sandboxes. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/ask.h"
#include "client/verbs.h"

#define EXIT_DEGRADED  1
#define EXIT_UNHEALTHY 2

static const Option health_options[] = {
        { "targets", 0, NULL, "also print targets and measured values", OPTION_OWN },
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
        printf("%-12s %9lld\n", name, json_count(health, key));
}

static void print_capacity(const json_t *capacity) {
        long long max = json_count(capacity, "max");

        printf("%-12s %9lld of %lld\n", "live", json_count(capacity, "live"), max);
        if (max == json_count(capacity, "machineMax") && json_has(capacity, "cure"))
                printf("  the machine has room for no more: %s\n", json_get_text_or(capacity, "cure", ""));
}

static void cell_met(Table *t, const json_t *target, const Column *c) {
        table_cell(t, !json_has(target, "met") ? NULL : json_get_bool(target, "met") ? "yes" : "no");
}

static void cell_reached(Table *t, const json_t *target, const Column *c) {
        if (json_has(target, "met"))
                table_cell_format(t, "%.4g", json_get_number(target, c->key, 0));
        else
                table_cell(t, NULL);
}

static const Column target_columns[] = {
        { "TARGET", "name" }, { ">BELOW", "below", cell_short, .otherwise = "0" }, { ">NOW", "value", cell_reached }, { "UNIT", "unit" },
        { "MET", "met", cell_met },
};

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
        print_capacity(json_object_get(health, "capacity"));
        client_health_print_count("stuck", health, "stuckCount");
        client_health_print_count("orphaned", health, "orphanedCount");
        client_health_print_count("unhealthy", health, "unhealthyCount");
        client_health_print_count("queue", health, "queueDepth");
        print_share("failures", health, "failureRate");
        print_share("timeouts", health, "timeoutRate");
        printf("%-12s %9zu\n", "alerts", json_array_size(json_object_get(health, "activeAlerts")));
        if (targets) {
                printf("\n");
                (void) columns_show(target_columns, ELEMENTSOF(target_columns), json_object_get(health, "targets"));
        }
        return states[k].status;
}

static int health_run(const Place *place, void *options, const Operands *words) {
        const Common *o = options;
        _cleanup_answer_ Answer a = { 0 };

        if (ask_need(place, options, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        return o->json ? ask_show(o, words, &a) : client_health_show(a.json, common_said(o, "targets"));
}

const Verb command_health = {
        .synopsis = "health [options]",
        .about = "Shows whether the daemon and its sandboxes are healthy, and the reasons if not.",
        .more = "Exit status: 0 healthy, 1 degraded, 2 unhealthy, 125 if the daemon cannot be asked.",
        VERB_OPTIONS(health_options), .run = health_run, .path = "/api/sandbox/health",
};
