/* result.c: the program's end, output and usage, and the cause of its end. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/internal.h"
#include "core/mask.h"
#include "base/text.h"

#define TIMEOUT_REASON "timeout" /* the core's reason for a sandbox that reached its timeout */

/* By the reason of the execution. A sandbox that ended may have a reason of its own. */
static const ResultBlame blames[_EXECUTION_REASON_MAX] = {
        [EXECUTION_REASON_NONE] = BLAME_SANDBOX,
        [EXECUTION_REASON_EXITED] = BLAME_PROGRAM, /* unless the exit code is 0 */
        [EXECUTION_REASON_SIGNALED] = BLAME_PROGRAM,
        [EXECUTION_REASON_TIMEOUT] = BLAME_PROGRAM,
        [EXECUTION_REASON_CPU_TIME] = BLAME_PROGRAM,
        [EXECUTION_REASON_MEMORY] = BLAME_PROGRAM,
        [EXECUTION_REASON_DISK] = BLAME_PROGRAM,
        [EXECUTION_REASON_CANCELLED] = BLAME_CALLER,
        [EXECUTION_REASON_NOT_FOUND] = BLAME_PROGRAM,
        [EXECUTION_REASON_NOT_EXECUTABLE] = BLAME_PROGRAM,
        [EXECUTION_REASON_SANDBOX_ENDED] = BLAME_SANDBOX,
        [EXECUTION_REASON_INTERNAL] = BLAME_SANDBOX,
};

static bool time_was_up(const Execution *x) {
        return x->reason == EXECUTION_REASON_SANDBOX_ENDED && x->sandbox->reason && strcmp(x->sandbox->reason, TIMEOUT_REASON) == 0;
}

ResultBlame result_blame(const Execution *x) {
        if (x->reason == EXECUTION_REASON_EXITED && x->exit_code == 0)
                return BLAME_NOBODY;
        return time_was_up(x) ? BLAME_PROGRAM : blames[x->reason];
}

void result_usage(const Sandbox *sb, const Execution *x, const SandboxUsage *u, JobUsage *ret) {
        *ret = (JobUsage) {
                .cpu_usec = u->has_cpu ? u->cpu_usec : x->user_usec + x->system_usec,
                .memory_bytes = u->memory_bytes,
                .memory_peak_bytes = MAX_OF(u->memory_peak_bytes, x->max_rss_bytes),
                .disk_bytes = u->disk_bytes,
                .network_rx_bytes = u->network_rx_bytes,
                .network_tx_bytes = u->network_tx_bytes,
                .network_requests = u->network_requests,
                .operations = sb->operations,
        };
}

static void result_take_usage(Run *run, const Execution *x) {
        Sandbox *sb = x->sandbox;
        SandboxUsage usage = { 0 };

        if (sandbox_is_up(sb) || sb->status == SANDBOX_PAUSED)
                if (sandbox_usage(sb, &usage) < 0)
                        memset(&usage, 0, sizeof(usage));
        result_usage(sb, x, &usage, &run->job.usage);
}

/* Kept as text if it is text; a character that our own limit has split is left out. */
static void keep_output(JobOutput *o, const char *data, size_t size) {
        bool cut = false;
        size_t n = utf8_prefix(data, size, &cut);

        if ((n == size || (cut && o->truncated)) && !memchr(data, '\0', n)) {
                o->text = strndup(data, n);
                return;
        }
        o->base64 = true;
        o->text = malloc(BASE64_SIZE(size) + 1);
        if (!o->text)
                return;
        base64_encode(data, size, o->text);
        o->text[BASE64_SIZE(size)] = '\0';
}

static void result_take_output(Run *run, const Execution *x, ExecutionStream stream, JobOutput *ret) {
        _cleanup_free_ char *data = NULL;
        uint64_t bytes = x->journals[stream].bytes;
        size_t size = (size_t) MIN_OF(bytes, (uint64_t) JOB_OUTPUT_MAX);
        ssize_t n;

        free(ret->text);
        *ret = (JobOutput) { .bytes = bytes, .truncated = bytes > JOB_OUTPUT_MAX || x->journals[stream].truncated };
        run->outputs[stream] = output_close(run->outputs[stream]);
        if (bytes == 0 || execution_open_output(x, stream, &run->outputs[stream]) < 0)
                return;
        data = malloc(size);
        n = data ? execution_read_output(x, stream, run->outputs[stream], data, size, 0) : -1;
        if (n > 0)
                keep_output(ret, data, (size_t) n);
}

/* If the sandbox ended during the execution, its reason says more. */
static void result_take_message(Job *j, const Execution *x) {
        const char *reason = x->reason == EXECUTION_REASON_SANDBOX_ENDED ? x->sandbox->reason : NULL;
        char *text = NULL;

        if (reason && asprintf(&text, "the sandbox ended while the program ran: %s", reason) < 0)
                text = NULL;
        else if (!reason && x->message)
                text = strdup(x->message);
        free(j->message);
        j->message = text;
}

void result_take(Run *run, const Execution *x) {
        Job *j = &run->job;

        run->blame = result_blame(x);
        j->has_result = true;
        j->exit_code = x->exit_code;
        j->signal = x->signal;
        j->reason = time_was_up(x) ? EXECUTION_REASON_TIMEOUT : x->reason;
        result_take_message(j, x);
        j->duration_usec = x->duration_usec;
        j->finished_at = x->ended_at;
        if (j->running_at == 0)
                j->running_at = x->started_at;
        if (j->execution == 0)
                j->execution = x->number;
        mask_unref(run->mask);
        run->mask = mask_ref(x->sandbox->mask);
        result_take_output(run, x, STREAM_STDOUT, &j->out);
        result_take_output(run, x, STREAM_STDERR, &j->err);
        result_take_usage(run, x);
}
