#include "client/execution/verdict.h"

#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "base/parse.h"
#include "cli/verbs.h"

int verdict_signal_from_name(const char *name) {
        uint64_t n;

        if (strncmp(name, "SIG", 3) == 0)
                name += 3;
        for (int s = 1; s < NSIG; s++) {
                const char *known = sigabbrev_np(s);

                if (known && strcmp(name, known) == 0)
                        return s;
        }
        if (strncmp(name, "RTMIN+", 6) == 0 && parse_uint64(name + 6, 0, (uint64_t) (SIGRTMAX - SIGRTMIN), &n) >= 0)
                return SIGRTMIN + (int) n;
        if (strcmp(name, "RTMIN") == 0)
                return SIGRTMIN;
        if (strcmp(name, "RTMAX") == 0)
                return SIGRTMAX;
        return parse_uint64(name, 1, NSIG - 1, &n) >= 0 ? (int) n : 0;
}

/* Ends that the command itself caused need no message. */
static bool is_own_end(const char *reason) {
        return strcmp(reason, "exited") == 0 || strcmp(reason, "signaled") == 0 || strcmp(reason, "disk") == 0;
}

/* The message if the daemon sends none. */
static const char *words_for(const char *reason) {
        static const struct {
                const char *reason, *words;
        } table[] = {
                { "timeout", "timed out" },
                { "cpu_time", "used up its CPU time" },
                { "memory", "out of memory: killed by the kernel at the limit" },
                { "cancelled", "killed on request" },
                { "not_found", "command not found" },
                { "not_executable", "command cannot be executed" },
                { "sandbox_ended", "killed with its sandbox" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                if (strcmp(reason, table[i].reason) == 0)
                        return table[i].words;
        return "its end was not seen";
}

int verdict_tell(const json_t *end) {
        const char *reason = json_get_text_or(end, "reason", "internal"), *message = json_get_text(end, "message");
        const char *signal = json_get_text(end, "signal");
        int64_t code = json_get_integer(end, "exitCode", -1);

        if (!is_own_end(reason))
                log_error("%s", message ? message : words_for(reason));
        if (json_get_bool(end, "truncated"))
                log_warning("it wrote more than its sandbox keeps of a command's output, and the rest is lost: "
                            "see --output-limit of `cove create`");
        if (json_get_bool(end, "timedOut") || strcmp(reason, "timeout") == 0 || strcmp(reason, "cpu_time") == 0)
                return EXIT_TIMED_OUT;
        if (code >= 0 && code <= 255)
                return (int) code;
        if (signal && verdict_signal_from_name(signal) > 0)
                return EXIT_SIGNAL_BASE + verdict_signal_from_name(signal);
        if (strcmp(reason, "sandbox_ended") == 0)
                return EXIT_SIGNAL_BASE + SIGKILL;
        return EXIT_OWN_FAILURE;
}
