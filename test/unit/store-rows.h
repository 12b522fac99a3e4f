/* store-rows.h: rows to write, and counting them: what the tests of the store share. */
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/rows.h"
#include "store/store.h"
#include "unit.h"

static inline Store *open_store(const char *name) {
        Error error = { 0 };
        Store *s = NULL;
        int r = store_open(unit_path(name), &s, &error);

        if (r < 0)
                print_error("%s\n", error.text);
        check_result("store_open", r, 0);
        return s;
}

static inline void put_id(Sandbox *sb, unsigned i) {
        (void) snprintf(sb->id, sizeof(sb->id), "a%020u", i);
}

/* Strings of specs made here are literals or the stack's: nothing is freed. */
static inline Sandbox plain_sandbox(unsigned i) {
        Sandbox sb = { .spec = { .name = (char *) "plain", .template_name = (char *) "host" }, .created_at = i };

        put_id(&sb, i);
        return sb;
}

static inline Execution plain_execution(Sandbox *sb, uint64_t number) {
        static char *args[] = { (char *) "true", NULL };

        return (Execution) { .sandbox = sb, .number = number, .spec.args = { .items = args, .n = 1 } };
}

/* Counting. */

static inline int count_sandbox(Sandbox *row, void *userdata) {
        ++*(size_t *) userdata;
        return 0;
}

static inline int count_execution(const char *sandbox_id, Execution *row, void *userdata) {
        ++*(size_t *) userdata;
        return 0;
}

static inline int count_footprint(const char *sandbox_id, FootprintKind kind, const char *name, void *userdata) {
        ++*(size_t *) userdata;
        return 0;
}

static inline int count_event(const StoreEvent *event, void *userdata) {
        ++*(size_t *) userdata;
        return 0;
}

static inline size_t n_sandboxes(Store *s) {
        size_t n = 0;

        check_result("store_sandbox_each", store_sandbox_each(s, count_sandbox, &n), 0);
        return n;
}

static inline size_t n_executions(Store *s) {
        size_t n = 0;

        check_result("store_execution_each", store_execution_each(s, count_execution, &n), 0);
        return n;
}

static inline size_t n_footprint(Store *s) {
        size_t n = 0;

        check_result("store_footprint_each", store_footprint_each(s, count_footprint, &n), 0);
        return n;
}

static inline size_t n_events(Store *s, const char *sandbox_id) {
        size_t n = 0;

        check_result("store_event_each", store_event_each(s, sandbox_id, 0, 0, count_event, &n), 0);
        return n;
}
