/* Any config file: it is read, or complained about by the line; what was read keeps its promises and can be printed and read again. */
#include "fuzz.h"

#include <errno.h>

#include "config/config.h"

static void count(const char *text, void *userdata) {
        unsigned line, column;

        (void) config_complaint_split(text, &line, &column);
        MUST(strncmp(text, "fuzz:", 5) == 0 && line > 0 && column > 0);
        ++*(unsigned *) userdata;
}

static void check(const Config *c) {
        MUST(c->n_profiles >= 5);
        for (size_t i = 0; i < c->n_profiles; i++) {
                const Profile *p = c->profiles + i;

                MUST(p->stuck_usec >= p->wall_usec && p->limits.exec_timeout_usec == p->wall_usec);
                MUST(p->limits.memory_bytes >= (4 << 20) && p->limits.pids > 0 && p->attempts_max > 0);
                MUST(profile_find(c, p->name) == p);
        }
        for (size_t i = 0; i < c->n_pools; i++) {
                MUST(c->pools[i].min_size <= c->pools[i].max_size);
                MUST(!*c->pools[i].profile || profile_find(c, c->pools[i].profile));
        }
        MUST(c->cleanup.sweep_interval_usec > 0 && c->cleanup.pressure_usage <= 1);
}

/* What hides a secret cannot be read again; everything else must. */
static void check_again(const Config *c) {
        char *once = config_print(c), *json = config_print_json(c), *twice = NULL;
        Config *again = NULL;
        unsigned n = 0;
        Error error = { 0 };

        MUST(once && json);
        if (!strstr(once, "(set)")) {
                MUST(config_parse(/* hooks= */ NULL, once, strlen(once), "fuzz", count, &n, &again, &error) == 0);
                twice = config_print(again);
                MUST(twice && strcmp(once, twice) == 0);
        }
        config_free(again);
        free(once);
        free(twice);
        free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        Config *c = NULL;
        Error error = { 0 };
        unsigned n = 0;
        int r = config_parse(/* hooks= */ NULL, (const char *) data, size, "fuzz", count, &n, &c, &error);

        MUST(r == 0 || r == -EINVAL);
        MUST((r < 0) == (n > 0) && (r < 0) == (error.text[0] != '\0') && (r < 0) == !c);
        if (c) {
                check(c);
                check_again(c);
        }
        config_free(c);
        return 0;
}
