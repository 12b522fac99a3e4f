#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

int log_verbosity = 0;

void log_line(const char *level, const char *format, ...) {
        char line[2048];
        int n, saved = errno;
        va_list ap;

        n = snprintf(line, sizeof(line), "cove: %s%s", level ? level : "", level ? ": " : "");
        errno = saved; /* for %m */
        va_start(ap, format);
        (void) vsnprintf(line + n, sizeof(line) - (size_t) n - 1, format, ap);
        va_end(ap);

        n = (int) strlen(line);
        for (int i = 0; i < n; i++) /* values come from anywhere; a line is a line, and no terminal command */
                if ((unsigned char) line[i] < 0x20 || line[i] == 0x7f)
                        line[i] = '?';
        line[n] = '\n';
        (void) fd_write_all(STDERR_FILENO, line, (size_t) n + 1); /* one write: lines of two runs do not mix */
        errno = saved;
}
