#include "init/file-job.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "init/file-detail.h"
#include "wire/channel.h"

#define NSEC_PER_SEC INT64_C(1000000000)

int job_fail(FileJob *job, int error, const char *path) {
        if (job->about[0] == '\0')
                (void) snprintf(job->about, sizeof(job->about), "%s", path);
        return error;
}

int job_fail_below(FileJob *job, int error, const char *directory, const char *relative) {
        size_t n = strlen(directory);

        if (job->about[0] != '\0')
                return error;
        while (n > 0 && directory[n - 1] == '/')
                n--;
        if (relative[0] == '\0')
                return job_fail(job, error, directory);
        if ((size_t) snprintf(job->about, sizeof(job->about), "%.*s/%s", (int) n, directory, relative) >=
                        sizeof(job->about))
                job->about[sizeof(job->about) - 1] = '\0'; /* cut off: it is for a person to read */
        return error;
}

/* Asks the kernel for the path of the directory. */
int job_fail_at(FileJob *job, int error, int dirfd, const char *name) {
        char link[64], directory[FILE_PATH_BYTES];
        ssize_t n;

        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", dirfd);
        n = readlink(link, directory, sizeof(directory) - 1);
        if (n <= 0 || directory[0] != '/')
                return error;
        directory[n] = '\0';
        return job_fail_below(job, error, directory, name);
}

int job_alive(const FileJob *job) {
        struct pollfd p = { .fd = job->channel };

        if (poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR | POLLNVAL)))
                return -EPIPE;
        return 0;
}

int job_send(FileJob *job, const FileMessage *message, int fd) {
        static uint8_t buffer[FILE_MESSAGE_MAX];
        ssize_t size = file_encode(message, buffer, sizeof(buffer));

        if (size < 0)
                return (int) size;
        for (;;) {
                int r = channel_send_bytes(job->channel, buffer, (size_t) size, &fd, fd >= 0 ? 1 : 0, /* flags= */ 0);

                if (r == -ECONNRESET)
                        return -EPIPE;
                if (r != -ETOOMANYREFS)
                        return r;
                /* The kernel counts a user's descriptors in flight; the count falls when the reader takes them. */
                if (job_alive(job) < 0)
                        return -EPIPE;
                (void) nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
        }
}

/* A guest can set any time, so the product may overflow. */
static int64_t file_job_to_nsec(const struct timespec *t) {
        int64_t nsec;

        if (__builtin_mul_overflow((int64_t) t->tv_sec, NSEC_PER_SEC, &nsec) ||
                        __builtin_add_overflow(nsec, (int64_t) t->tv_nsec, &nsec))
                return t->tv_sec < 0 ? INT64_MIN : INT64_MAX;
        return nsec;
}

/* Details are looked up by the full path. */
static int add_details(FileJob *job, const struct stat *st, FileEntry *e) {
        char path[FILE_PATH_BYTES];
        const char *top = job->request->path;
        size_t n = strlen(top);

        while (n > 0 && top[n - 1] == '/')
                n--;
        if (e->path[0] == '/' || e->path[0] == '\0') {
                detail_fill(e->path[0] != '\0' ? e->path : top, st, e);
                return 0;
        }
        if ((size_t) snprintf(path, sizeof(path), "%.*s/%s", (int) n, top, e->path) >= sizeof(path))
                return -ENAMETOOLONG;
        detail_fill(path, st, e);
        return 0;
}

int job_send_entry(FileJob *job, const char *path, const char *target, const struct stat *st, int fd) {
        FileMessage m = {
                .type = FILE_ENTRY,
                .entry = {
                        .mode = st->st_mode,
                        .uid = st->st_uid,
                        .gid = st->st_gid,
                        .size = (uint64_t) MAX_OF(st->st_size, 0),
                        .inode = st->st_ino,
                        .device = st->st_dev,
                        .mtime_nsec = file_job_to_nsec(&st->st_mtim),
                        .ctime_nsec = file_job_to_nsec(&st->st_ctim),
                },
        };

        if (strlen(path) >= sizeof(m.entry.path))
                return -ENAMETOOLONG;
        (void) strcpy(m.entry.path, path);
        if (target && target[0] != '\0') {
                (void) snprintf(m.entry.target, sizeof(m.entry.target), "%s", target);
                m.entry.hard = !S_ISLNK(st->st_mode);
        }
        if (job->request->flags & FILE_DETAILS) {
                int r = add_details(job, st, &m.entry);

                if (r < 0)
                        return r;
        }
        return job_send(job, &m, fd);
}

int job_receive(FileJob *job, FileMessage *ret) {
        static uint8_t buffer[FILE_MESSAGE_MAX];
        size_t size;
        int r = channel_receive_bytes(job->channel, /* flags= */ 0, buffer, sizeof(buffer), &size, NULL, 0, NULL);

        if (r == 0)
                return -EPIPE;
        if (r < 0)
                return r;
        return file_decode(buffer, size, ret);
}

/* If a socket is closed with unread data in it, the peer gets a reset, which hides our last messages. */
static void leave_nothing_unread(int channel) {
        char byte;

        (void) shutdown(channel, SHUT_RD);
        while (recv(channel, &byte, sizeof(byte), MSG_DONTWAIT | MSG_TRUNC) > 0)
                ;
}

void job_finish(FileJob *job, int error, uint64_t count) {
        FileMessage m = { .type = FILE_END, .count = count };

        if (error == -EPIPE)
                return;
        if (error < 0) {
                m = (FileMessage) { .type = FILE_FAILED, .failure.error = -error };
                (void) snprintf(m.failure.path, sizeof(m.failure.path), "%s",
                                job->about[0] != '\0' ? job->about : job->request->path);
        }
        (void) job_send(job, &m, -EBADF);
        leave_nothing_unread(job->channel);
}
