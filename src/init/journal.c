#include "init/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/segment.h"

#define BUFFER_SIZE      (256 * 1024)
#define PIPE_SIZE        (1024 * 1024)
#define PIPE_SIZE_FIRST  (64 * 1024) /* the size that the kernel gives by default */
#define PUMP_MAX         (4 * 1024 * 1024)
#define TERMINAL_PENDING (128 * 1024) /* more than a terminal holds */
#define PAGE_SIZE_MAX    65536
#define SMALL            2048 /* the record is little against a larger piece */
#define SMALL_TERMINAL   256  /* it holds a few kilobytes, and then its programs wait */
#define SMALL_BURST      (64 * USEC_PER_MSEC) /* so many small pieces are read without a pause */
#define SMALL_PAUSE      USEC_PER_MSEC
#define SMALL_SLOWER     64 /* after each so many small pieces, the pause is a microsecond longer: an index cannot fill the disk */

_Static_assert(BUFFER_SIZE <= SEGMENT_PIECE_MAX, "a read is a piece");

/* One per process. Untouched pages cost nothing. */
static _Alignas(PAGE_SIZE_MAX) uint8_t buffer[BUFFER_SIZE];
static bool buffer_used;

/* At the position, or at the end for -1. Returns the bytes written. */
static size_t journal_put(int fd, const uint8_t *data, size_t size, off_t position) {
        size_t done = 0;

        while (done < size) {
                ssize_t n = position < 0 ? write(fd, data + done, size - done) : pwrite(fd, data + done, size - done, position + (off_t) done);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        break;
                done += (size_t) n;
        }
        return done;
}

/* Without its record, a piece does not count. */
static size_t journal_put_piece(const JournalSegment *to, size_t size) {
        SegmentRecord record = { .exec = to->exec, .stream = to->stream, .time_usec = clock_wall_usec() };

        record.position = atomic_fetch_add(to->end, size);
        record.size = (uint32_t) journal_put(to->data, buffer, size, (off_t) record.position);
        if (record.size == 0 || journal_put(to->index, (const uint8_t *) &record, sizeof(record), -1) != sizeof(record))
                return 0;
        return record.size;
}

static void init_journal_write_out(InitJournal *j, size_t size) {
        size_t room = j->max > *j->bytes ? (size_t) MIN_OF(j->max - *j->bytes, (uint64_t) size) : 0, done = 0;

        if (room > 0)
                done = j->to.index < 0 ? journal_put(j->to.data, buffer, room, -1) : journal_put_piece(&j->to, room);
        *j->bytes += done;
        if (done < room)
                j->max = *j->bytes; /* after a hole the output would be wrong: nothing more is written */
        if (done < size)
                *j->truncated = 1;
}

static void journal_pace(InitJournal *j, size_t size) {
        usec_t now, earliest;

        if (size >= (j->terminal ? SMALL_TERMINAL : SMALL) || j->to.index < 0)
                return;
        now = clock_usec();
        earliest = now > SMALL_BURST ? now - SMALL_BURST : 0;
        j->due = MAX_OF(j->due, earliest) + SMALL_PAUSE + j->n_small++ / SMALL_SLOWER;
}

int journal_poll(const InitJournal *j, usec_t *ret_wait) {
        usec_t now;

        *ret_wait = USEC_INFINITY;
        if (j->from < 0 || j->due == 0)
                return j->from;
        now = clock_usec();
        if (now >= j->due)
                return j->from;
        *ret_wait = j->due - now;
        return -EBADF;
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
        journal_pace(j, (size_t) n);
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
}

void journal_release_buffer(void) {
        if (buffer_used)
                (void) madvise(buffer, sizeof(buffer), MADV_DONTNEED);
        buffer_used = false;
}
