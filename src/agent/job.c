#include "agent/job.h"

#include <stdlib.h>

void job_forget_result(Job *j) {
        free(j->message);
        free(j->out.text);
        free(j->err.text);
        j->message = NULL;
        j->out = j->err = (JobOutput) { 0 };
        j->usage = (JobUsage) { 0 };
        j->has_result = false;
        j->exit_code = -1;
        j->signal = 0;
        j->reason = EXECUTION_REASON_NONE;
        j->duration_usec = 0;
}
