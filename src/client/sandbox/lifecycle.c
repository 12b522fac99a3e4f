/* cove pause, resume, stop, start: sandboxes from one state to another. */

#include <string.h>

#include "client/sandbox/several.h"
#include "client/verbs.h"

typedef struct LifecycleOptions {
        Common common;
        JsonBuilder body; /* stop, pause */
} LifecycleOptions;

static int apply_grace(void *target, const char *value, Error *reterr) {
        usec_t usec;
        int r = value_duration("--grace", value, &usec, reterr);

        if (r >= 0)
                json_put_number(&((LifecycleOptions *) target)->body, "graceSeconds", (double) usec / USEC_PER_SEC);
        return r;
}

static int apply_to_disk(void *target, const char *value, Error *reterr) {
        json_put_true(&((LifecycleOptions *) target)->body, "toDisk");
        return 0;
}

static int apply_end_processes(void *target, const char *value, Error *reterr) {
        json_put_true(&((LifecycleOptions *) target)->body, "endProcesses");
        return 0;
}

static const Option plain_options[] = { COMMON_OPTIONS };

static const Option pause_options[] = {
        { "to-disk",       0, NULL,   "keep its files only, so that it needs no memory\nand outlives the machine's restart", apply_to_disk },
        { "end-processes", 0, NULL,   "with --to-disk: end what runs in it; else it is\nrefused while something does", apply_end_processes },
        { "grace",         0, "TIME", "between asking its commands to end and ending\nthem (default 5s)", apply_grace },
        COMMON_OPTIONS,
};

static const Option stop_options[] = {
        { "grace", 0, "TIME", "between asking its commands to end and ending\nthem (default 5s)", apply_grace },
        COMMON_OPTIONS,
};

#define SANDBOXES .operands_min = 1, .operands_max = USAGE_ANY_NUMBER, .missing = "no sandbox given"

static const Usage pause_usage = {
        .synopsis = "pause SANDBOX… [options]",
        .about = "Freezes everything in a sandbox. Nothing is lost, nothing runs, until `cove resume`.",
        USAGE_OPTIONS(pause_options),
        SANDBOXES,
};

static const Usage resume_usage = {
        .synopsis = "resume SANDBOX… [options]",
        .about = "Goes on with what `cove pause`, or a timeout, has frozen; starts again what was paused to\n"
                 "disk.",
        USAGE_OPTIONS(plain_options),
        SANDBOXES,
};

static const Usage start_usage = {
        .synopsis = "start SANDBOX… [options]",
        .about = "Makes a stopped sandbox ready for commands again. Its disk is as it was.",
        USAGE_OPTIONS(plain_options),
        SANDBOXES,
};

static const Usage stop_usage = {
        .synopsis = "stop SANDBOX… [options]",
        .about = "Ends what runs in a sandbox and keeps its disk. `cove start` makes it ready again.",
        USAGE_OPTIONS(stop_options),
        SANDBOXES,
};

static int change(const Usage *usage, int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        LifecycleOptions o = { 0 };
        Several several = { .place = &place, .method = "POST", .what = argv[0], .body = &o.body };
        Operands words;
        int status;

        if (usage_begin(usage, argc, argv, &o, &words, &place, &status) == 0) {
                several.json = o.common.json;
                status = several_ask(&several, words.items, words.n);
        }
        json_builder_done(&o.body);
        return status;
}

int verb_pause(int argc, char **argv) {
        return change(&pause_usage, argc, argv);
}

int verb_resume(int argc, char **argv) {
        return change(&resume_usage, argc, argv);
}

int verb_start(int argc, char **argv) {
        return change(&start_usage, argc, argv);
}

int verb_stop(int argc, char **argv) {
        return change(&stop_usage, argc, argv);
}
