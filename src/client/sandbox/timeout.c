/* cove timeout: when a sandbox ends, or is parked, by itself. */

#include <stdio.h>

#include "base/log.h"
#include "client/client.h"
#include "client/usage.h"
#include "client/verbs.h"

typedef struct TimeoutOptions {
        Common common;
        const char *on_timeout;
} TimeoutOptions;

APPLY_TEXT(TimeoutOptions, on_timeout)

static const Option timeout_options[] = {
        { "on-timeout", 0, "WHAT", "kill, pause, or park (default: as it was)", apply_on_timeout },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "timeout SANDBOX TIME [options]",
        .about = "Sets how long a sandbox still lives, from this moment on; never takes the limit away.",
        .more = "Example: cove timeout web 30m --on-timeout pause",
        USAGE_OPTIONS(timeout_options),
        .operands_min = 2,
        .operands_max = 2,
        .missing = "no sandbox given",
        .missing_last = "no time given",
};

static int set_timeout(const Place *place, const TimeoutOptions *o, const Operands *words) {
        _cleanup_builder_ JsonBuilder body = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        Error error = { 0 };
        usec_t usec;

        if (value_duration(/* name= */ NULL, words->items[1], &usec, &error) < 0) {
                log_error("%s", error.text);
                return EXIT_OWN_FAILURE;
        }
        json_put_number(&body, "timeoutSeconds", (double) usec / USEC_PER_SEC);
        json_put_text(&body, "onTimeout", o->on_timeout);
        url_sandbox(&u, words->items[0], "timeout");
        if (client_need(place, "POST", &u, &body, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                puts(json_get_text_or(a.json, "expires_at", "never"));
        return 0;
}

int verb_timeout(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        TimeoutOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) == 0)
                status = set_timeout(&place, &o, &words);
        return status;
}
