/* output.c: when a sandbox last wrote output, and which known error messages are in it. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "core/output.h"
#include "reaper/diagnosis-internal.h"

#define TAIL_BYTES  8192
#define NEWEST      3 /* executions that are read */

static const struct {
        const char *pattern, *meaning;
} known[] = {
        { "Operation timed out",         "an external service hangs or cannot be reached"  },
        { "Maximum call stack exceeded", "infinite recursion"                              },
        { "Maximum call stack size exceeded", "infinite recursion"                         },
        { "Maximum recursion depth exceeded", "infinite recursion"                         },
        { "Out of memory",               "memory leak, or a limit that is too low"         },
        { "MemoryError",                 "memory leak, or a limit that is too low"         },
        { "Cannot allocate memory",      "memory leak, or a limit that is too low"         },
        { "No space left on device",     "its disk is full"                                },
        { "Resource limit exceeded",     "a limit of its own"                              },
        { "Resource temporarily unavailable", "too many processes, or a lock that is held" },
        { "deadlock",                    "its processes wait for each other"               },
};

static bool contains(const char *text, size_t size, const char *pattern) {
        size_t n = strlen(pattern);

        for (size_t i = 0; i + n <= size; i++)
                if (strncasecmp(text + i, pattern, n) == 0)
                        return true;
        return false;
}

static void find_patterns(const char *text, size_t size, const Execution *x, DiagnosisOutput *o) {
        for (size_t i = 0; i < ELEMENTSOF(known) && o->n_patterns < DIAGNOSIS_FINDINGS_MAX; i++) {
                bool told = false;

                for (unsigned k = 0; k < o->n_patterns; k++)
                        told |= strcmp(o->patterns[k].meaning, known[i].meaning) == 0;
                if (told || !contains(text, size, known[i].pattern))
                        continue;
                (void) snprintf(o->patterns[o->n_patterns].pattern, sizeof(o->patterns[0].pattern), "%s", known[i].pattern);
                (void) snprintf(o->patterns[o->n_patterns].meaning, sizeof(o->patterns[0].meaning), "%s", known[i].meaning);
                (void) snprintf(o->patterns[o->n_patterns].execution, sizeof(o->patterns[0].execution), "%s", x->id);
                o->n_patterns++;
        }
}

static void reaper_output_read_stream(const Execution *x, ExecutionStream stream, bool patterns, DiagnosisOutput *o) {
        _cleanup_output_ OutputReader *output = NULL;
        char text[TAIL_BYTES];
        uint64_t size;
        ssize_t n;

        if (execution_open_output(x, stream, &output) < 0)
                return;
        size = execution_output_size(x, stream, output);
        if (size == 0)
                return;
        o->bytes += size;
        o->last_at = MAX_OF(o->last_at, output_time(output, size - 1));
        if (!patterns)
                return;
        n = execution_read_output(x, stream, output, text, sizeof(text), size > sizeof(text) ? size - sizeof(text) : 0);
        if (n > 0)
                find_patterns(text, (size_t) n, x, o);
}

/* The running executions, and the newest of the others. */
void diagnosis_read_output(const Sandbox *sb, bool patterns, DiagnosisOutput *ret) {
        const Execution *x, *next;

        memset(ret, 0, sizeof(*ret));
        HASH_ITER(hh, sb->executions, x, next)
                if (!execution_ended(x) || x->number + NEWEST > sb->last_execution)
                        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                                if (!(x->spec.pty && s == STREAM_STDERR))
                                        reaper_output_read_stream(x, s, patterns, ret);
}
