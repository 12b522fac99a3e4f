#include "client/waiting.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"

#define SILENCE_SECONDS 2
#define TEXT_BYTES      512

/* Static, because signal handlers can reach nothing else. */
static struct {
        const char *words;
        usec_t since; /* 0: nothing is waited for */
        volatile sig_atomic_t shown;
        char farewell[TEXT_BYTES];
        const char *leftover;
} waiting;

static void waiting_write(const char *text) {
        (void) !write(STDERR_FILENO, text, strlen(text));
}

static void waiting_clear(void) {
        if (waiting.shown)
                waiting_write("\r\033[K");
        waiting.shown = false;
}

static void waiting_write_number(unsigned n) {
        char text[12], *p = text + sizeof(text) - 1;

        *p = '\0';
        do
                *--p = (char) ('0' + n % 10);
        while ((n /= 10) > 0);
        waiting_write(p);
}

static void waiting_on_alarm(int number) {
        int saved = errno;

        waiting_write("\r\033[K");
        waiting_write(waiting.words ? waiting.words : "waiting for the daemon");
        waiting_write(" … ");
        waiting_write_number((unsigned) ((clock_usec() - waiting.since) / USEC_PER_SEC));
        waiting_write(" s");
        waiting.shown = true;
        errno = saved;
}

static void waiting_set_alarm(unsigned first, unsigned then) {
        const struct itimerval timer = { { then, 0 }, { first, 0 } };

        (void) setitimer(ITIMER_REAL, &timer, NULL);
}

void waiting_for(const char *words) {
        waiting.words = words;
        waiting.since = words ? clock_usec() : 0;
}

void waiting_begin(void) {
        const struct sigaction action = { .sa_handler = waiting_on_alarm, .sa_flags = SA_RESTART };

        if (!isatty(STDERR_FILENO))
                return;
        if (!waiting.words)
                waiting.since = clock_usec();
        (void) sigaction(SIGALRM, &action, NULL);
        waiting_set_alarm(SILENCE_SECONDS, 1);
}

void waiting_end(void) {
        waiting_set_alarm(0, 0);
        waiting_clear();
}

static const int farewell_signals[] = { SIGINT, SIGTERM, SIGHUP };

static void farewell_on_signal(int number) {
        waiting_clear();
        waiting_write(waiting.farewell);
        if (waiting.leftover)
                (void) unlink(waiting.leftover);
        (void) signal(number, SIG_DFL);
        (void) raise(number); /* takes effect on return: the signal is blocked until then */
}

static void farewell_install(void (*handler)(int)) {
        for (size_t i = 0; i < ELEMENTSOF(farewell_signals); i++) {
                struct sigaction old;

                if (sigaction(farewell_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* nohup(1) */
                        (void) signal(farewell_signals[i], handler);
        }
}

void farewell_set(const char *leftover, const char *format, ...) {
        va_list ap;
        int n;

        farewell_install(SIG_DFL); /* the text is incomplete for a moment */
        n = snprintf(waiting.farewell, sizeof(waiting.farewell), "%scove: ", isatty(STDERR_FILENO) ? "\n" : ""); /* a terminal has shown ^C */
        va_start(ap, format);
        (void) vsnprintf(waiting.farewell + n, sizeof(waiting.farewell) - (size_t) n - 1, format, ap);
        va_end(ap);
        (void) strcat(waiting.farewell, "\n");
        waiting.leftover = leftover;
        farewell_install(farewell_on_signal);
}

void farewell_clear(void) {
        farewell_install(SIG_DFL);
        waiting.leftover = NULL;
}
