#include "probe.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "child.h"

#define PROBE_PATIENCE  (60 * USEC_PER_SEC)
#define PROBE_BYTES_MAX (1024u * 1024u)

void probe_last_line(const char *path, char *ret, size_t size) {
        _cleanup_free_ char *text = NULL;
        size_t n = 0, begin;

        ret[0] = '\0';
        if (file_read_alloc(AT_FDCWD, path, PROBE_BYTES_MAX, &text, &n) < 0)
                return;
        while (n > 0 && isspace((unsigned char) text[n - 1]))
                n--;
        for (begin = n; begin > 0 && text[begin - 1] != '\n'; begin--)
                ;
        (void) snprintf(ret, size, "%.*s", (int) (n - begin), text + begin);
        for (char *c = ret; *c; c++)
                if (!isprint((unsigned char) *c))
                        *c = '?';
}

int probe_open(const char *path, Error *reterr) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        return fd < 0 ? error_set(reterr, -errno, "make '%s': %m", path) : fd;
}

int probe_finish(pid_t pid, const char *path, Error *reterr) {
        char line[ERROR_TEXT_MAX / 2];
        int status, r;

        child_deadline(PROBE_PATIENCE);
        r = child_wait(pid, /* ret_pid= */ NULL, &status);
        child_deadline(0);
        if (r < 0) {
                child_kill(pid);
                return error_set(reterr, r, r == -ETIME ? "does not end" : "%m");
        }

        r = child_check(status, reterr);
        if (r < 0) {
                probe_last_line(path, line, sizeof(line));
                if (line[0])
                        (void) error_set(reterr, r, "%s", line);
        }
        return r;
}

int probe_run(const char *const argv[], const char *path, Error *reterr) {
        _cleanup_close_ int fd = probe_open(path, reterr);
        const int stdio[] = { child_quiet[0], child_quiet[1], fd };
        pid_t pid;
        int r;

        if (fd < 0)
                return fd;
        r = child_start(argv, stdio, &pid);
        if (r < 0)
                return error_set(reterr, r, "start '%s': %m", argv[0]);
        return probe_finish(pid, path, reterr);
}
