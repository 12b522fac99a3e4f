/* journal-internal.h: what journal.c and journal-look.c share. */
#pragma once

#include <systemd/sd-event.h>

#include "core/execution.h"

#define JOURNAL_NAME_BYTES (SANDBOX_ID_LENGTH + EXECUTION_ID_MAX + 8)

typedef struct Journals {
        int box_fd;
        Execution *growing; /* of live sandboxes, in the order of the last look; what a command leaves behind may write after its end */
        sd_event_source *look; /* timer of the looks, while there are such executions */
        uint64_t n_looks;
        size_t n_spares;  /* their names are "spare-0" and so on */
        sd_event_source *stock; /* runs when the loop is idle */
        sd_event_source *anchor;
} Journals;

void journal_name(const Execution *x, ExecutionStream stream, char ret[static JOURNAL_NAME_BYTES]);
int journals_add_look(Manager *m);
