/* pick.h: which command of a sandbox is meant when none is named. */
#pragma once

#include "client/client.h"

typedef enum PickAllow {
        PICK_RUNNING,  /* the one that runs */
        PICK_ENDED_TOO, /* or, when none does, the last one that ran */
} PickAllow;

/* One that `cove code` and the SDKs keep: it waits for code for ever, and is nobody's command. */
bool execution_is_interpreter(const json_t *execution);

/* The execution object; given: its id, NULL when there is none. Tells why when it cannot be said which. */
int pick_execution(const Place *p, const char *sandbox, const char *given, PickAllow allow, Answer *ret,
                const json_t **ret_execution);
