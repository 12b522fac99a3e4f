/* cove replay: repeats the input of a recorded sandbox in a new one, and compares the results. */

#include "client/sandbox/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/ask.h"
#include "client/verbs.h"

#define EXIT_DIFFERENT  1
#define LIFETIME_SECONDS 3600 /* of the sandbox, in case we are killed before we remove it */

static const Option replay_options[] = {
        { "until",  0, "N",  "run only the first N steps",                      OPTION_NUMBER(ReplayOptions, until, 1, INT64_MAX) },
        { "shell",  0, NULL, "open a terminal in the sandbox afterwards",   OPTION_FLAG(ReplayOptions, shell)                 },
        { "timing", 0, NULL, "wait between the steps as long as in the recording", OPTION_FLAG(ReplayOptions, timing)                },
        { "keep",   0, NULL, "keep the sandbox",                            OPTION_FLAG(ReplayOptions, keep)                  },
};

int replay_load(Replay *r) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = url_of("/api/sandbox/%s/recording", r->of);
        Error error = { 0 };

        if (replay_get(r, &u, &a) < 0)
                return -EIO;
        for (char *line = a.text, *end; line && line < a.text + a.size; line = end + 1) {
                json_t *parsed;

                end = memchr(line, '\n', (size_t) (a.text + a.size - line));
                if (!end)
                        break; /* the line is being written at this moment */
                parsed = json_parse(line, (size_t) (end - line), &error);
                if (!parsed || json_array_append_new(r->lines, parsed) < 0)
                        return log_failure(-EBADMSG, "the recording cannot be read: %s", error.text);
        }
        if (json_array_size(r->lines) == 0 || strcmp(replay_type(json_array_get(r->lines, 0)), "sandbox") != 0)
                return log_failure(-EBADMSG, "the recording of '%s' is incomplete: its first entry is missing", r->of);
        return 0;
}

static json_t *limits_of(const json_t *first) {
        json_t *limits = json_deep_copy(json_object_get(first, "limits"));

        if (json_get_number(limits, "cpuCores", 0) <= 0)
                (void) json_object_del(limits, "cpuCores");
        return limits;
}

int replay_create(Replay *r) {
        const json_t *first = json_array_get(r->lines, 0);
        const char *digest = json_get_text(first, "templateDigest"), *name = json_get_text_or(first, "template", "host");
        const char *snapshot = json_get_text(first, "snapshot");
        _cleanup_builder_ JsonBuilder body = { 0 };
        _cleanup_answer_ Answer a = { 0 };

        if (snapshot)
                json_put_text(&body, "snapshot", snapshot);
        else
                json_put_text(&body, "template", digest ? digest : name);
        if (json_get_bool(first, "persistent") && !snapshot)
                json_put_true(&body, "persistent");
        json_put_value(&body, "limits", limits_of(first));
        json_put_value(&body, "env", json_incref(json_object_get(first, "env")));
        json_put_text(&body, "workdir", json_get_text(first, "workdir"));
        json_put_text(&body, "user", json_get_text(first, "user"));
        if (json_has(first, "policy"))
                json_put_value(&body, "policy", json_incref(json_object_get(first, "policy")));
        if (!r->o->keep && !r->o->shell)
                json_put_integer(&body, "timeoutSeconds", LIFETIME_SECONDS);
        if (client_try(r->place, "POST", &body, &a, "/api/sandbox") < 0)
                return -EIO;
        if (!answer_is_good(&a)) {
                answer_tell(&a);
                if (snapshot || digest)
                        log_error("the sandbox was created from %s %s%s%s: check that it still exists", snapshot ? "snapshot" : "template", snapshot ? snapshot : name,
                                        snapshot ? "" : ", ", snapshot ? "" : digest);
                return -EIO;
        }
        r->sandbox = strdup(json_get_text_or(a.json, "id", ""));
        return r->sandbox ? 0 : -ENOMEM;
}

static int run_steps(Replay *r) {
        const json_t *line;
        int k = 0;
        size_t i;

        r->began = clock_usec();
        json_array_foreach(r->lines, i, line) {
                k = i == 0 ? 0 : replay_step(r, line);
                if (k < 0)
                        break;
        }
        return k;
}

/* Passes on the options that select the daemon. */
static void open_shell(const Replay *r) {
        const PlaceOptions *p = &r->o->common.place;
        const struct {
                const char *name, *value;
        } words[] = { { "--socket", p->socket }, { "--state", p->state }, { "--url", p->url }, { "--key", p->key } };
        char *argv[2 + 2 * ELEMENTSOF(words) + 1] = { (char *) "shell", r->sandbox };
        int n = 2;

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (words[i].value) {
                        argv[n++] = (char *) words[i].name;
                        argv[n++] = (char *) words[i].value;
                }
        (void) fflush(stdout);
        (void) verb_main(&command_shell, n, argv);
}

static void remove_sandbox(const Replay *r) {
        _cleanup_url_ Url u = url_of("/api/sandbox/%s?force=true", r->sandbox);

        (void) replay_send(r, "DELETE", &u, NULL, 0);
}

static void print_end(const Replay *r) {
        size_t n = json_array_size(r->differences);
        _cleanup_json_ json_t *o = NULL;
        _cleanup_free_ char *text = NULL;

        if (!r->o->common.json) {
                printf(n == 0 ? "%llu step%s, the same as then\n" : "%llu step%s, %zu difference%s\n", (unsigned long long) r->step, r->step == 1 ? "" : "s", n,
                                n == 1 ? "" : "s");
                if (r->o->keep)
                        printf("%s\n", r->sandbox);
                return;
        }
        o = json_pack("{s:s, s:s, s:I, s:b, s:O}", "of", r->of, "sandbox", r->sandbox, "steps", (json_int_t) r->step, "same", n == 0, "differences",
                        r->differences);
        text = client_json_print(o, /* pretty= */ true);
        if (text)
                puts(text);
}

static int replay(Replay *r) {
        int k = replay_load(r);

        if (k >= 0)
                k = replay_create(r);
        if (k < 0)
                return EXIT_OWN_FAILURE;
        k = run_steps(r);
        if (k >= 0)
                print_end(r);
        if (r->o->shell)
                open_shell(r);
        if (!r->o->keep)
                remove_sandbox(r);
        return k < 0 ? EXIT_OWN_FAILURE : json_array_size(r->differences) > 0 ? EXIT_DIFFERENT : 0;
}

static int replay_run(const Place *place, void *options, const Operands *words) {
        const ReplayOptions *o = options;
        Replay r = {
                .place = place,
                .o = o,
                .of = words->items[0],
                .lines = json_array(),
                .running = json_object(),
                .differences = json_array(),
        };
        int status = o->shell && o->common.json ? verb_refuse("--json: a terminal is no JSON; leave --shell out") : replay(&r);

        json_decref(r.lines);
        json_decref(r.running);
        json_decref(r.differences);
        free(r.sandbox);
        return status;
}

const Verb command_replay = {
        .synopsis = "replay SANDBOX [options]",
        .about = "Repeats the recorded steps of a sandbox in a new one, and compares the results.",
        .more = "The sandbox was created with `cove create --record`. SANDBOX is an id, also of a removed sandbox.\n"
                "Exit status: 0 the same, 1 different.\n"
                "Example: cove replay --until 3 --shell k3v9x2…",
        VERB_OPTIONS(replay_options), VERB_ONE("no sandbox given"), VERB_RUN(replay_run, ReplayOptions),
};
