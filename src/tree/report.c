#include "tree/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

#define INTERVAL (100 * USEC_PER_MSEC)

static bool listening;
static usec_t told;

void report_init(void) {
        listening = fcntl(REPORT_FD, F_GETFD) >= 0;
        told = clock_usec();
}

void report_progress(uint64_t entries, uint64_t bytes) {
        char line[128];
        usec_t now;

        if (!listening)
                return;
        now = clock_usec();
        if (now - told < INTERVAL)
                return;
        told = now;
        (void) snprintf(line, sizeof(line), "{\"progress\": {\"entries\": %" PRIu64 ",\"bytes\": %" PRIu64 "}}\n", entries, bytes);
        if (fd_write_all(REPORT_FD, line, strlen(line)) < 0)
                listening = false; /* the reader has closed it; the work continues */
}

void report_begin_result(JsonWriter *w) {
        *w = (JsonWriter) { .compact = true };
        json_begin_object(w, NULL);
        json_begin_object(w, "result");
}

int report_end_result(JsonWriter *w, Error *reterr) {
        int r;

        json_end_object(w);
        json_end_object(w);
        if (!listening) {
                json_discard(w);
                return 0;
        }
        r = json_finish(w, REPORT_FD);
        return r < 0 ? error_set(reterr, r, "cannot tell the result: %m") : 0;
}
