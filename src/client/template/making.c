#include "client/template/making.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/human.h"
#include "client/verbs.h"

#define LOOK_EVERY "0.3" /* seconds; the end is reported at once */
#define EXIT_SIGNAL 128
#define BAR_WIDTH   24

static volatile sig_atomic_t interrupts;
static volatile sig_atomic_t interrupted_by;

static void making_on_signal(int number) {
        interrupts++;
        interrupted_by = number;
}

typedef struct MakingFollow {
        const Place *place;
        const MakingLook *look;
        const char *id;
        uint64_t offset; /* of the log */
        bool json, terminal, shown;
        bool held; /* state of human_put() */
        bool midline; /* the log has not ended its line: a progress line would be drawn into it, and erase it */
        bool cancelled;
} MakingFollow;

static void clear_line(MakingFollow *f) {
        if (f->shown)
                fprintf(stderr, "\r\033[K");
        f->shown = false;
}

static void show_progress(MakingFollow *f, const json_t *making) {
        const json_t *progress = json_object_get(making, "progress");
        double done = json_get_number(progress, "done", 0), total = json_get_number(progress, "total", 0);
        char text[HUMAN_MAX], of[HUMAN_MAX], bar[BAR_WIDTH + 1];
        _cleanup_free_ char *stage = human_clean(json_get_text_or(making, "stage", "waiting"));

        if (!f->terminal || f->midline)
                return;
        clear_line(f);
        if (total > 0) {
                unsigned n = (unsigned) (BAR_WIDTH * MIN_OF(done / total, 1.0));

                memset(bar, '=', n);
                memset(bar + n, ' ', BAR_WIDTH - n);
                bar[BAR_WIDTH] = '\0';
                fprintf(stderr, "%.50s [%s] %s of %s", stage ? stage : "", bar, human_size(done, text), human_size(total, of));
        } else if (done > 0)
                fprintf(stderr, "%.50s  %s", stage ? stage : "", human_size(done, text));
        else
                fprintf(stderr, "%.50s", stage ? stage : "");
        (void) fflush(stderr);
        f->shown = true;
}

/* The output of builds is untrusted: it must not control our terminal. */
static int take_log(void *userdata, const void *data, size_t size) {
        MakingFollow *f = userdata;

        clear_line(f);
        f->offset += size;
        f->midline = size > 0 && ((const char *) data)[size - 1] != '\n';
        if (f->terminal)
                human_put(stderr, data, size, &f->held);
        else
                (void) fwrite(data, 1, size, stderr);
        return 0;
}

static int show_log(MakingFollow *f) {
        _cleanup_url_ Url u = url_of("/api/makings/%s/log?offset=%llu", f->id, (unsigned long long) f->offset);

        if (f->look->quiet || f->json)
                return 0;
        return client_receive(f->place, &u, /* accept= */ NULL, take_log, f, /* error= */ NULL);
}

static void client_making_cancel(MakingFollow *f) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = url_of("/api/makings/%s", f->id);
        Error error = { 0 };

        f->cancelled = true;
        clear_line(f);
        if (client_ask(f->place, "DELETE", &u, /* body= */ NULL, &a, &error) < 0)
                log_error("cannot cancel it: %s", error.text);
        else
                log_notice("cancelling; finished layers are kept (Ctrl-C again stops waiting for the end)");
}

static int making_tell_end(const MakingFollow *f, const Answer *a) {
        const char *status = json_get_text_or(a->json, "status", "?"), *name = json_get_text(a->json, "template"), *digest = json_get_text(a->json, "digest");
        bool good = strcmp(status, "done") == 0;

        if (f->json)
                answer_print(a);
        else if (good && name && digest)
                printf("%s %s\n", name, digest);
        if (!good && (f->look->quiet || f->json)) /* otherwise the log has told the reason */
                log_error("%s", json_get_text_or(json_object_get(a->json, "error"), "message", status));
        if (f->cancelled)
                return EXIT_SIGNAL + interrupted_by;
        return good ? 0 : EXIT_OWN_FAILURE;
}

static int client_making_follow(MakingFollow *f) {
        for (;;) {
                _cleanup_answer_ Answer a = { 0 };

                if (interrupts > 0 && !f->cancelled)
                        client_making_cancel(f);
                if (interrupts > 1) {
                        clear_line(f);
                        log_notice("%s goes on in the daemon", f->id);
                        return EXIT_SIGNAL + interrupted_by;
                }
                if (client_need_path(f->place, /* body= */ NULL, &a, "/api/makings/%s?wait=" LOOK_EVERY,
                                    f->id) < 0 ||
                                show_log(f) < 0)
                        return EXIT_OWN_FAILURE;
                if (strcmp(json_get_text_or(a.json, "status", ""), "running") != 0) {
                        clear_line(f);
                        return making_tell_end(f, &a);
                }
                show_progress(f, a.json);
        }
}

int making_follow(const Place *place, const Answer *started, const MakingLook *look, bool json) {
        const struct sigaction action = { .sa_handler = making_on_signal };
        MakingFollow f = { .place = place, .look = look, .json = json, .id = json_get_text(started->json, "id") };

        if (!f.id)
                return verb_refuse("the daemon's answer has no id");
        if (look->detach) {
                if (json)
                        answer_print(started);
                else
                        puts(f.id);
                return 0;
        }
        f.terminal = isatty(STDERR_FILENO) && !json && !look->quiet;
        (void) sigaction(SIGINT, &action, NULL);
        (void) sigaction(SIGTERM, &action, NULL);
        return client_making_follow(&f);
}
