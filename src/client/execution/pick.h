/* pick.h: selects the command of a sandbox when none is named. */
#pragma once

#include "client/client.h"

typedef enum PickAllow {
        PICK_RUNNING,  /* the running one */
        PICK_ENDED_TOO, /* or, if none runs, the last one */
} PickAllow;

/* Whether it is an interpreter that `cove code` or an SDK keeps: it waits for code for ever, and no user
 * started it as a command. */
bool execution_is_interpreter(const json_t *execution);

/* Returns the execution object. given: its id; NULL: not given. Reports the reason if the choice is not
 * clear. */
int pick_execution(const Place *p, const char *sandbox, const char *given, PickAllow allow, Answer *ret,
                const json_t **ret_execution);
