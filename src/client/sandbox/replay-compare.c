/* Compares the results of a replay with the recorded ones. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "client/http/digest.h"
#include "client/human.h"
#include "client/sandbox/replay.h"
#include "client/table.h"

#define CONTEXT   3
#define SHOWN_MAX 8 /* lines of each side */

static void hex_of(const void *data, size_t size, char ret[static 2 * SHA256_SIZE + 1]) {
        uint8_t sum[SHA256_SIZE];

        sha256(data, size, sum);
        hex_encode(sum, sizeof(sum), ret);
}

static void replay_compare_put_line(char mark, const char *text, size_t size) {
        bool colours = colours_wanted(STDOUT_FILENO);
        _cleanup_free_ char *copy = strndup(text, size), *clean = copy ? human_clean(copy) : NULL;

        if (colours && mark != ' ')
                fputs(colour_on(mark == '-' ? COLOUR_RED : COLOUR_GREEN), stdout);
        printf("    %c%s", mark, clean ? clean : "");
        if (colours && mark != ' ')
                fputs(colour_off(), stdout);
        putchar('\n');
}

static size_t line_size(const char *at, const char *end) {
        const char *newline = memchr(at, '\n', (size_t) (end - at));

        return newline ? (size_t) (newline - at) + 1 : (size_t) (end - at);
}

static void put_lines(char mark, const char *at, const char *end, unsigned n) {
        for (; n > 0 && at < end; n--) {
                size_t size = line_size(at, end);

                replay_compare_put_line(mark, at, at[size - 1] == '\n' ? size - 1 : size);
                at += size;
        }
        if (at < end && mark != ' ')
                replay_compare_put_line(mark, "…", strlen("…"));
}

/* Shows both sides from the first line that differs. */
static void show_difference(const char *name, const char *was, size_t was_size, const char *is, size_t is_size) {
        const char *was_end = was + was_size, *is_end = is + is_size, *context = was;
        unsigned long line = 1;
        unsigned behind = 0;

        while (was < was_end && is < is_end) {
                size_t n = line_size(was, was_end), m = line_size(is, is_end);

                if (n != m || memcmp(was, is, n) != 0)
                        break;
                was += n;
                is += m;
                line++;
                if (behind == CONTEXT)
                        context += line_size(context, was_end);
                else
                        behind++;
        }
        printf("    --- %s, recorded\n    +++ %s, replayed\n    @@ line %lu @@\n", name, name, line);
        put_lines(' ', context, was, CONTEXT);
        put_lines('-', was, was_end, SHOWN_MAX);
        put_lines('+', is, is_end, SHOWN_MAX);
}

static void add_difference(Replay *r, uint64_t step, const char *what, json_t *was, json_t *is) {
        (void) json_array_append_new(r->differences, json_pack("{s:I, s:s, s:o, s:o}", "step", (json_int_t) step, "what", what, "was", was, "is", is));
}

static void compare_number(Replay *r, uint64_t step, const char *key, const json_t *then, const json_t *now) {
        int64_t was = json_get_integer(then, key, -1), is = json_get_integer(now, key, -1);

        if (was == is)
                return;
        if (!r->o->common.json)
                printf("✗ %llu: %s is %lld, was %lld\n", (unsigned long long) step, key, (long long) is, (long long) was);
        add_difference(r, step, key, was < 0 ? json_null() : json_integer(was), is < 0 ? json_null() : json_integer(is));
}

static int replay_compare_read_output(Replay *r, const char *execution, const char *stream, Answer *ret) {
        _cleanup_url_ Url u = url_of("/api/sandbox/%s/exec/%s/output?stream=%s&follow=false", r->sandbox,
                        execution, stream);

        return replay_get(r, &u, ret);
}

static int compare_stream(Replay *r, const json_t *end, uint64_t step, const char *execution, const char *stream) {
        const json_t *content = json_object_get(end, stream);
        const char *was_hash = json_get_text(content, "sha256");
        char is_hash[2 * SHA256_SIZE + 1];
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_free_ char *was = NULL;
        size_t was_size = 0;

        if (!was_hash)
                return 0;
        if (replay_compare_read_output(r, execution, stream, &a) < 0)
                return -EIO;
        hex_of(a.text ? a.text : "", a.size, is_hash);
        if (strcmp(is_hash, was_hash) == 0)
                return 0;
        if (!r->o->common.json)
                printf("✗ %llu: %s differs: %zu bytes, were %lld\n", (unsigned long long) step, stream, a.size,
                                json_count(content, "size"));
        if (!r->o->common.json && !r->shown && !json_get_bool(content, "cut") && replay_content(r, content, &was, &was_size) >= 0) {
                show_difference(stream, was, was_size, a.text ? a.text : "", a.size);
                r->shown = true;
        }
        add_difference(r, step, stream, json_string(was_hash), json_string(is_hash));
        return 0;
}

static int replay_compare_await_end(Replay *r, const char *execution, Answer *ret) {
        for (;;) {
                if (client_need_path(r->place, /* body= */ NULL, ret,
                                    "/api/sandbox/%s/exec/%s/wait?timeoutSeconds=30&output=false",
                                    r->sandbox, execution) < 0)
                        return -EIO;
                if (strcmp(json_get_text_or(ret->json, "status", ""), "exited") == 0)
                        return 0;
                answer_done(ret);
                *ret = (Answer) { 0 };
        }
}

int replay_compare(Replay *r, const json_t *end, uint64_t step, const char *execution) {
        size_t before = json_array_size(r->differences);
        _cleanup_answer_ Answer a = { 0 };
        int k = replay_compare_await_end(r, execution, &a);

        if (k < 0)
                return k;
        compare_number(r, step, "exitCode", end, a.json);
        k = compare_stream(r, end, step, execution, "stdout");
        if (k >= 0)
                k = compare_stream(r, end, step, execution, "stderr");
        if (k >= 0 && !r->o->common.json && json_array_size(r->differences) == before)
                printf("✓ %llu: as before\n", (unsigned long long) step);
        return k;
}
