#include "core/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/execution/segment.h"
#include "core/internal.h"
#include "core/mask.h"

struct OutputReader {
        int fd; /* of a journal */
        SegmentReader *segment; /* both none: there is no output, and no file */
};

/* Output that was reported, and of which nothing is left, was given back: the daemon may have died before it wrote so. */
static int check_segment(const Execution *x, ExecutionStream stream) {
        uint64_t reported = execution_ended(x) ? x->journals[stream].bytes : 0;
        int r = reported > x->pieces.bytes[stream] ? segment_scan(x->sandbox) : 0;

        return r < 0 ? r : reported > 0 && x->pieces.bytes[stream] == 0 ? -ENODATA : 0;
}

int output_open(const Execution *x, ExecutionStream stream, OutputReader **ret) {
        OutputReader *o;
        int r = 0;

        if (x->spec.pty && stream == STREAM_STDERR)
                return -EINVAL;
        if (x->journals_gone)
                return -ENODATA;
        o = calloc(1, sizeof(*o));
        if (!o)
                return -ENOMEM;
        o->fd = -EBADF;
        if (x->has_files) {
                r = o->fd = journal_open(x, stream);
                if (r < 0)
                        o->fd = -EBADF;
        } else {
                r = check_segment(x, stream);
                if (r >= 0 && x->sandbox->segment)
                        r = segment_open(x, stream, &o->segment);
        }
        if (r < 0) {
                (void) output_close(o);
                return r;
        }
        *ret = o;
        return 0;
}

OutputReader *output_close(OutputReader *o) {
        if (!o)
                return NULL;
        (void) segment_close(o->segment);
        (void) fd_close(o->fd);
        free(o);
        return NULL;
}

/* The size that PID 1 reports at the end is trusted only as far as the files reach. */
uint64_t output_size(const Execution *x, ExecutionStream stream, OutputReader *o) {
        uint64_t reported = x->journals[stream].bytes, there;
        struct stat st;

        if (o->fd >= 0)
                there = fstat(o->fd, &st) < 0 ? 0 : (uint64_t) st.st_size;
        else {
                if (o->segment && (!execution_ended(x) || reported > x->pieces.bytes[stream]))
                        (void) segment_scan(x->sandbox);
                there = x->pieces.bytes[stream];
        }
        return execution_ended(x) ? MIN_OF(reported, there) : there;
}

ssize_t output_read(void *reader, void *buffer, size_t size, uint64_t offset) {
        OutputReader *o = reader;

        if (o->fd >= 0)
                return mask_read_fd(&o->fd, buffer, size, offset);
        return o->segment ? segment_read(o->segment, buffer, size, offset) : 0;
}

usec_t output_time(OutputReader *o, uint64_t offset) {
        struct stat st;

        if (o->segment)
                return segment_time(o->segment, offset);
        return o->fd < 0 || fstat(o->fd, &st) < 0 ? 0 : (usec_t) st.st_mtim.tv_sec * USEC_PER_SEC + (usec_t) st.st_mtim.tv_nsec / 1000;
}

uint64_t output_place(OutputReader *o, uint64_t offset) {
        return o->segment ? segment_place(o->segment, offset) : 0;
}

uint64_t output_seen(const Execution *x, ExecutionStream stream) {
        return x->has_files ? UINT64_MAX : x->pieces.bytes[stream];
}

int output_piece(OutputReader *o, uint64_t from, uint64_t to, uint64_t *ret_position) {
        int fd;

        if (o->segment)
                return segment_piece(o->segment, from, to, ret_position);
        fd = o->fd < 0 ? -ENXIO : fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
        *ret_position = from;
        return fd < 0 ? -ENXIO : fd;
}

/* For display. */

int execution_open_output(const Execution *x, ExecutionStream stream, OutputReader **ret) {
        return x->sandbox->mask_lost ? -EKEYREVOKED : output_open(x, stream, ret);
}

uint64_t execution_output_size(const Execution *x, ExecutionStream stream, OutputReader *output) {
        uint64_t size = output_size(x, stream, output);

        if (x->sandbox->mask_lost || mask_shown_end(x->sandbox->mask, output_read, output, size, execution_ended(x), &size) < 0)
                return 0;
        return size;
}

ssize_t execution_read_output(const Execution *x, ExecutionStream stream, OutputReader *output, void *buffer, size_t size, uint64_t offset) {
        if (x->sandbox->mask_lost)
                return -EKEYREVOKED;
        return mask_read(x->sandbox->mask, output_read, output, output_size(x, stream, output), execution_ended(x), buffer, size, offset);
}
