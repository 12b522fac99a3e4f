#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"

#define LINE_MAX_BYTES 2048
#define ABOUT          "sandbox "

int log_verbosity = 0;
bool log_infos = false, log_json = false, log_bounded = false;

static size_t log_print_text(const char *level, const char *message, char *ret, size_t size) {
        bool quiet = !level || strcmp(level, "notice") == 0 || strcmp(level, "info") == 0;
        int n = snprintf(ret, size - 1, "cove: %s%s%s", quiet ? "" : level, quiet ? "" : ": ", message);

        return MIN_OF((size_t) n, size - 2);
}

/* Escapes only quotes and backslashes: control characters have been replaced already. */
static size_t log_put_quoted(const char *text, size_t n, char *ret) {
        const char *begin = ret;

        for (size_t i = 0; i < n;) {
                int length = utf8_length(text + i, n - i);

                if (length <= 0) {
                        *ret++ = '?';
                        i++;
                        continue;
                }
                if (text[i] == '"' || text[i] == '\\')
                        *ret++ = '\\';
                memcpy(ret, text + i, (size_t) length);
                ret += length;
                i += (size_t) length;
        }
        return (size_t) (ret - begin);
}

/* Returns the length of the id after "sandbox "; 0: the message is about no sandbox. */
static size_t about(const char *message) {
        size_t n;

        if (strncmp(message, ABOUT, strlen(ABOUT)) != 0)
                return 0;
        n = strspn(message + strlen(ABOUT), "abcdefghijklmnopqrstuvwxyz0123456789");
        return n > 8 && message[strlen(ABOUT) + n] == ':' ? n : 0;
}

/* ret has room for everything to be escaped. */
static size_t log_print_json(const char *level, const char *message, char *ret, size_t size) {
        struct timespec now;
        struct tm tm;
        size_t n, id = about(message);

        (void) clock_gettime(CLOCK_REALTIME, &now);
        (void) gmtime_r(&now.tv_sec, &tm);
        n = strftime(ret, size, "{\"time\":\"%Y-%m-%dT%H:%M:%S", &tm);
        n += (size_t) snprintf(ret + n, size - n, ".%03uZ\",\"level\":\"%s\",\"message\":\"", (unsigned) (now.tv_nsec / 1000000),
                        level ? level : "error");
        n += log_put_quoted(message, strlen(message), ret + n);
        if (id > 0)
                n += (size_t) snprintf(ret + n, size - n, "\",\"sandbox\":\"%.*s", (int) id, message + strlen(ABOUT));
        n += (size_t) snprintf(ret + n, size - n, "\"}");
        return n;
}

static void log_write_line(const char *level, char *message) {
        char line[2 * LINE_MAX_BYTES + 256];
        size_t n;

        text_tame(message);
        n = log_json ? log_print_json(level, message, line, sizeof(line)) : log_print_text(level, message, line, LINE_MAX_BYTES);
        line[n] = '\n';
        (void) fd_write_all(STDERR_FILENO, line, n + 1); /* one write: lines of two runs do not mix */
}

/* A place in the code is identified by its format. Two places that share an entry replace each other: neither
 * is silenced by the other. */
typedef struct LogPlace {
        const char *format;
        usec_t since;
        unsigned n;
} LogPlace;

static bool log_has_burst(const char *level, const char *format) {
        static LogPlace places[64];
        LogPlace *p = places + ((uintptr_t) format >> 3) % ELEMENTSOF(places);
        unsigned left_out;
        usec_t now;

        if (!log_bounded || (level && strcmp(level, "warning") != 0))
                return false;
        now = clock_usec();
        if (p->format == format && now - p->since < LOG_BURST_USEC)
                return ++p->n > LOG_BURST;
        left_out = p->n > LOG_BURST ? p->n - LOG_BURST : 0;
        if (left_out > 0) {
                char text[LINE_MAX_BYTES];

                (void) snprintf(text, sizeof(text), "%u more like \"%.100s\" were left out", left_out, p->format);
                log_write_line("warning", text);
        }
        *p = (LogPlace) { .format = format, .since = now, .n = 1 };
        return false;
}

void log_line(const char *level, const char *format, ...) {
        char message[LINE_MAX_BYTES];
        int saved = errno; /* for %m */
        va_list ap;

        if (log_has_burst(level, format))
                return;
        errno = saved;
        va_start(ap, format);
        (void) vsnprintf(message, sizeof(message), format, ap);
        va_end(ap);
        log_write_line(level, message);
        errno = saved;
}

static bool log_is_wanted(const char *level) {
        if (!level || strcmp(level, "notice") == 0)
                return true;
        if (strcmp(level, "warning") == 0)
                return log_verbosity >= 0;
        return strcmp(level, "info") == 0 ? log_infos : log_verbosity > 0;
}

void log_sandbox(const char *level, const char *id, const char *format, ...) {
        char message[LINE_MAX_BYTES];
        int n, saved = errno;
        va_list ap;

        if (!log_is_wanted(level) || log_has_burst(level, format))
                return;
        n = snprintf(message, sizeof(message), ABOUT "%.64s: ", id);
        errno = saved;
        va_start(ap, format);
        (void) vsnprintf(message + n, sizeof(message) - (size_t) n, format, ap);
        va_end(ap);
        log_write_line(level, message);
        errno = saved;
}

int log_failure(int code, const char *format, ...) {
        char message[LINE_MAX_BYTES];
        va_list ap;

        if (log_has_burst(/* level= */ NULL, format))
                return code;
        errno = -code;
        va_start(ap, format);
        (void) vsnprintf(message, sizeof(message), format, ap);
        va_end(ap);
        log_write_line(/* level= */ NULL, message);
        return code;
}
