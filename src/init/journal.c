#include "init/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"

#define BUFFER_SIZE      (256 * 1024)
#define PIPE_SIZE        (1024 * 1024)
#define PIPE_SIZE_FIRST  (64 * 1024) /* the size that the kernel gives by default */
#define PUMP_MAX         (4 * 1024 * 1024)
#define TERMINAL_PENDING (128 * 1024) /* more than a terminal holds */
#define PAGE_SIZE_MAX    65536

/* One per process. Untouched pages cost nothing. */
static _Alignas(PAGE_SIZE_MAX) uint8_t buffer[BUFFER_SIZE];
static bool buffer_used;

static void init_journal_write_out(InitJournal *j, size_t size) {
        size_t room = j->max > *j->bytes ? (size_t) MIN_OF(j->max - *j->bytes, (uint64_t) size) : 0, done = 0;

        while (done < room) {
                ssize_t n = write(j->to, buffer + done, room - done);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0) {
                        j->max = *j->bytes; /* after a hole the journal would be wrong: nothing more is written */
                        break;
                }
                done += (size_t) n;
                *j->bytes += (uint64_t) n;
        }
        if (done < size)
                *j->truncated = 1;
}

/* Most commands print little, and the kernel limits the total size of a user's pipes: only a pipe that is found
 * full grows. */
static void widen(InitJournal *j, size_t found) {
        if (j->wide || j->terminal || found < PIPE_SIZE_FIRST)
                return;
        (void) fcntl(j->from, F_SETPIPE_SZ, PIPE_SIZE);
        j->wide = true;
}

/* Returns the bytes moved, 0 at the end of input, -EAGAIN when there is none yet. */
static ssize_t move(InitJournal *j, size_t max) {
        ssize_t n = read(j->from, buffer, MIN_OF(max, sizeof(buffer)));

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return -EAGAIN;
        if (n <= 0) { /* EIO: no process has the terminal open any more */
                j->from = fd_close(j->from);
                return 0;
        }
        buffer_used |= (size_t) n > PAGE_SIZE_MAX;
        widen(j, (size_t) n);
        init_journal_write_out(j, (size_t) n);
        return n;
}

void journal_pump(InitJournal *j) {
        size_t moved = 0;

        while (j->from >= 0 && moved < PUMP_MAX) {
                ssize_t n = move(j, sizeof(buffer));

                if (n <= 0)
                        return;
                moved += (size_t) n;
                if ((size_t) n < sizeof(buffer) && !j->terminal)
                        return; /* the pipe is empty: poll reports more data, or the end, as cheaply as another read */
        }
}

void journal_drain(InitJournal *j) {
        size_t left = TERMINAL_PENDING;
        int pending;

        if (j->from < 0)
                return;
        /* FIONREAD does not count everything that a terminal has taken. */
        if (!j->terminal)
                left = ioctl(j->from, FIONREAD, &pending) < 0 ? 0 : (size_t) pending;
        while (j->from >= 0 && left > 0) {
                ssize_t n = move(j, left);

                if (n <= 0)
                        return;
                left -= (size_t) n;
        }
}

void init_journal_done(InitJournal *j) {
        j->from = fd_close(j->from);
        j->to = fd_close(j->to);
}

void journal_release_buffer(void) {
        if (buffer_used)
                (void) madvise(buffer, sizeof(buffer), MADV_DONTNEED);
        buffer_used = false;
}
