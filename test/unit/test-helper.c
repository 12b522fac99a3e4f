/* core/helper.h: what is told of a helper program's end. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/helper.h"

typedef struct Told {
        sd_event *event;
        unsigned n;
        Error error;
} Told;

static void on_ended(const Error *error, void *userdata) {
        Told *t = userdata;

        t->n++;
        t->error = error ? *error : (Error) { 0 };
        (void) sd_event_exit(t->event, 0);
}

/* The list of arguments is the caller's, and gone as soon as the program runs. */
static void run_script(const char *script, Told *ret) {
        char *name = strdup("cove-trial"), *text = strdup(script);
        const char *argv[] = { name, "-c", text, NULL };
        const int fds[] = { -EBADF, -EBADF, -EBADF };
        sigset_t child, before;
        Helper *h;

        *ret = (Told) { 0 };
        check_result("block", sigemptyset(&child) < 0 || sigaddset(&child, SIGCHLD) < 0 ? -errno : sigprocmask(SIG_BLOCK, &child, &before), 0);
        check_result("loop", sd_event_new(&ret->event), 0);
        check_result("start", helper_start(ret->event, &(ProgramStart) { .path = "/bin/sh", .argv = argv, .fds = fds, .n_fds = 3 }, /* hang_usec= */ 300 * USEC_PER_MSEC,
                        on_ended, ret, &h), 0);
        memset(name, 'x', strlen(name));
        free(name);
        free(text);
        check_result("run", sd_event_loop(ret->event), 0);
        sd_event_unref(ret->event);
        check_uint("told once", ret->n, 1);
        (void) sigprocmask(SIG_SETMASK, &before, NULL);
}

TEST(its_end_is_told) {
        Told t;

        run_script("exit 0", &t);
        check_result("well", t.error.code, 0);
        run_script("echo '28 no room' >&2; exit 1", &t);
        check_result("its own words", t.error.code, -ENOSPC);
        check_string("its own words", t.error.text, "no room");
        run_script("exit 3", &t);
        check_string("without words", t.error.text, "the trial program has ended with status 3");
        run_script("kill -9 $$", &t);
        check_string("killed", t.error.text, "the trial program was killed by signal 9");
        run_script("kill -STOP $$", &t);
        check_result("stands still", t.error.code, -ETIMEDOUT);
        check_part("stands still", t.error.text, "the trial program made no progress for");
        run_script("sleep 1", &t);
        check_result("waits", t.error.code, 0);
}
