/* Sends each kind of recorded step to the daemon as the original client did. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "client/human.h"
#include "client/sandbox/replay.h"

int replay_get(const Replay *r, const Url *u, Answer *ret) {
        return client_transfer(r->place, &REQUEST(.path = url_text(u), .accept = "application/octet-stream"),
                        /* error= */ NULL, ret);
}

int replay_send(const Replay *r, const char *method, const Url *u, const void *data, size_t size) {
        return client_transfer(r->place,
                        &REQUEST(.method = method, .path = url_text(u), .type = "application/octet-stream",
                                        .body = data, .body_size = size),
                        /* error= */ NULL, /* ret= */ NULL);
}

int replay_content(Replay *r, const json_t *content, char **ret, size_t *ret_size) {
        const char *hash = json_get_text(content, "sha256");
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = url_of("/api/sandbox/%s/recording/%s", r->of, hash ? hash : "");

        if (json_get_bool(content, "cut") || !hash)
                return log_failure(-ENODATA,
                                "step %llu: its content was not kept: it was larger than recording.maxSize, or there was no room for it",
                                (unsigned long long) r->step);
        if (replay_get(r, &u, &a) < 0)
                return -EIO;
        *ret = TAKE_PTR(a.text);
        *ret_size = a.size;
        return 0;
}

typedef struct ReplayKind ReplayKind;
struct ReplayKind {
        const char *type;
        int (*step)(Replay *r, const json_t *line, const ReplayKind *kind);
        const char *path;
        const char *const *queries; /* members of the line; ends with NULL */
};

static void add_queries(Url *u, const json_t *line, const char *const *names) {
        for (; *names; names++) {
                const json_t *value = json_object_get(line, *names);

                if (json_is_string(value))
                        url_query(u, *names, json_string_value(value));
                else if (json_is_boolean(value))
                        url_query(u, *names, json_is_true(value) ? "true" : "false");
        }
}

static int step_put(Replay *r, const json_t *line, const ReplayKind *kind) {
        _cleanup_url_ Url u = url_fill(kind->path, &r->sandbox);
        _cleanup_free_ char *data = NULL;
        size_t size = 0;
        int k = replay_content(r, json_object_get(line, "content"), &data, &size);

        add_queries(&u, line, kind->queries);
        return k < 0 ? k : replay_send(r, "PUT", &u, data ? data : "", size);
}

static int step_remove(Replay *r, const json_t *line, const ReplayKind *kind) {
        _cleanup_url_ Url u = url_fill(kind->path, &r->sandbox);

        add_queries(&u, line, kind->queries);
        return replay_send(r, "DELETE", &u, NULL, 0);
}

/* mkdir, move, copy, chmod: the line has the names of the API's body, except those of move and copy. */
static int step_change(Replay *r, const json_t *line, const ReplayKind *kind) {
        static const char *const keys[] = { "path", "user", "mode", "owner", "parents", "replace", "recursive" };
        bool moves = json_has(line, "target");
        _cleanup_builder_ JsonBuilder body = { 0 };
        _cleanup_answer_ Answer a = { 0 };

        for (size_t i = 0; i < ELEMENTSOF(keys); i++)
                if (json_has(line, keys[i]) && !(moves && i == 0))
                        json_put_value(&body, keys[i], json_incref(json_object_get(line, keys[i])));
        if (moves) {
                json_put_text(&body, "from", json_get_text(line, "path"));
                json_put_text(&body, "to", json_get_text(line, "target"));
        }
        return client_need_path(r->place, &body, &a, "/api/sandbox/%s/files/%s", r->sandbox, replay_type(line));
}

/* The line of an execution's end has the input that was written to it. */
static const json_t *replay_steps_find_end(const Replay *r, const char *execution) {
        const json_t *line;
        size_t i;

        json_array_foreach(r->lines, i, line)
                if (strcmp(replay_type(line), "end") == 0 && strcmp(json_get_text_or(line, "execution", ""), execution) == 0)
                        return line;
        return NULL;
}

static int give_input(Replay *r, const json_t *line, const char *execution) {
        const json_t *end = replay_steps_find_end(r, json_get_text_or(line, "execution", ""));
        const json_t *content = json_object_get(end, "stdin");
        _cleanup_free_ char *data = NULL;
        _cleanup_url_ Url u = url_of("/api/sandbox/%s/exec/%s/stdin", r->sandbox, execution);
        _cleanup_url_ Url to_close = url_of("/api/sandbox/%s/exec/%s/stdin/close", r->sandbox, execution);
        size_t size = 0;
        int k = 0;

        if (!json_get_bool(line, "stdin") && !json_has(line, "pty"))
                return 0;
        if (content)
                k = replay_content(r, content, &data, &size);
        if (k >= 0 && size > 0)
                k = replay_send(r, "POST", &u, data, size);
        if (k >= 0 && !json_has(line, "pty"))
                k = replay_send(r, "POST", &to_close, NULL, 0);
        return k == -EIO ? k : 0; /* one that has ended already reads nothing, as may have been the case in the recording */
}

static int replay_steps_exec(Replay *r, const json_t *line, const ReplayKind *kind) {
        static const char *const keys[] = { "env", "cwd", "user", "pty", "timeoutSeconds" };
        const json_t *command = json_object_get(line, "command");
        _cleanup_builder_ JsonBuilder body = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        json_t *args = json_array();
        const char *id;

        for (size_t i = 1; i < json_array_size(command); i++)
                (void) json_array_append(args, json_array_get(command, i));
        json_put_text(&body, "command", json_text_of(json_array_get(command, 0)));
        json_put_value(&body, "args", args);
        for (size_t i = 0; i < ELEMENTSOF(keys); i++)
                if (json_has(line, keys[i]))
                        json_put_value(&body, keys[i], json_incref(json_object_get(line, keys[i])));
        json_put_bool(&body, "stdin", json_get_bool(line, "stdin"));
        json_put_true(&body, "background");
        if (client_need_path(r->place, &body, &a, "/api/sandbox/%s/exec", r->sandbox) < 0)
                return -EIO;
        id = json_get_text_or(a.json, "id", "");
        (void) json_object_set_new(r->running, json_get_text_or(line, "execution", ""),
                        json_pack("{s:s, s:I}", "id", id, "step", (json_int_t) r->step));
        return give_input(r, line, id);
}

static int step_end(Replay *r, const json_t *line, const ReplayKind *kind) {
        const json_t *now = json_object_get(r->running, json_get_text_or(line, "execution", ""));

        if (!now)
                return 0; /* of a step that is not replayed */
        return replay_compare(r, line, (uint64_t) json_get_integer(now, "step", 0), json_get_text_or(now, "id", ""));
}

static int step_cut(Replay *r, const json_t *line, const ReplayKind *kind) {
        _cleanup_free_ char *reason = human_clean(json_get_text_or(line, "reason", "no reason given"));

        return log_failure(-ENODATA, "the recording has ended here: %s", reason ? reason : "");
}

#define QUERIES(...) (const char *const[]) { __VA_ARGS__, NULL }

static const ReplayKind replay_kinds[] = {
        { "file", step_put, "/api/sandbox/%/files", QUERIES("path", "user", "mode", "owner", "parents", "replace") },
        { "archive", step_put, "/api/sandbox/%/files/archive", QUERIES("path", "user") },
        { "remove", step_remove, "/api/sandbox/%/files", QUERIES("path", "user", "recursive", "missingOk") },
        { "mkdir", step_change }, { "move", step_change }, { "copy", step_change }, { "chmod", step_change },
        { "exec", replay_steps_exec }, { "end", step_end }, { "cut", step_cut },
};

const char *replay_type(const json_t *line) {
        return json_get_text_or(line, "type", "");
}

static void replay_steps_tell(const Replay *r, const json_t *line) {
        const json_t *command = json_object_get(line, "command"), *word;
        size_t i;

        if (r->o->common.json)
                return;
        printf("  %llu: %s", (unsigned long long) r->step, replay_type(line));
        if (json_has(line, "path")) {
                _cleanup_free_ char *clean = human_clean(json_get_text_or(line, "path", ""));
                printf(" %s", clean ? clean : "");
        }
        json_array_foreach(command, i, word) {
                _cleanup_free_ char *clean = human_clean(json_string_value(word) ? json_string_value(word) : "");
                printf(" %.60s", clean ? clean : "");
        }
        putchar('\n');
        (void) fflush(stdout);
}

/* Waits until the step is as long after the beginning as it was in the recording. */
static void wait_for_time(const Replay *r, const json_t *line) {
        usec_t at = (usec_t) json_get_integer(line, "atMs", 0) * USEC_PER_MSEC, now = clock_usec() - r->began;
        usec_t first = json_array_size(r->lines) > 1 ? (usec_t) json_get_integer(json_array_get(r->lines, 1), "atMs", 0) * USEC_PER_MSEC : 0;

        at -= MIN_OF(at, first);
        if (at > now)
                (void) nanosleep(&(struct timespec) {
                        .tv_sec = (time_t) ((at - now) / USEC_PER_SEC),
                        .tv_nsec = (long) ((at - now) % USEC_PER_SEC) * 1000,
                }, NULL);
}

int replay_step(Replay *r, const json_t *line) {
        bool is_end = strcmp(replay_type(line), "end") == 0;

        for (size_t i = 0; i < ELEMENTSOF(replay_kinds); i++) {
                if (strcmp(replay_kinds[i].type, replay_type(line)) != 0)
                        continue;
                if (!is_end) {
                        if (r->o->until > 0 && r->step >= r->o->until)
                                return 0;
                        r->step++;
                        if (r->o->timing)
                                wait_for_time(r, line);
                        replay_steps_tell(r, line);
                }
                return replay_kinds[i].step(r, line, replay_kinds + i);
        }
        return 0; /* of a later version */
}
