/* file-job.h: one file operation, as the worker that does it sees it.
 *
 * The request, the channel to whoever asked, and what every operation does with them: answer, notice that nobody listens
 * any more, say which path a failure is about.
 * Runs inside, in the worker, as the asked-for user. Must not know: what the operations do, PID 1. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "wire/file.h"

typedef struct FileJob {
        const FileRequest *request;
        int channel;
        int data_fd; /* -EBADF: none came */
        bool root;   /* may give files away */
        char about[FILE_PATH_BYTES]; /* what the failure is about; empty: the request's path */
} FileJob;

/* Both remember the path, unless something deeper has said it already, and return the error. */
int job_fail(FileJob *job, int error, const char *path);
int job_fail_below(FileJob *job, int error, const char *directory, const char *relative);
int job_fail_at(FileJob *job, int error, int dirfd, const char *name);

/* -EPIPE: the other side has hung up. Every operation that takes long asks now and then, and gives up with it. */
int job_alive(const FileJob *job);

/* These too return -EPIPE then. */
int job_send(FileJob *job, const FileMessage *message, int fd);
/* The target is that of a symbolic link; of anything else: the path of the entry that it is a hard link to. */
int job_send_entry(FileJob *job, const char *path, const char *target, const struct stat *st, int fd);
int job_receive(FileJob *job, FileMessage *ret); /* waits; data points into a buffer that the next call uses again */

/* Answers with END or FAILED, or with nothing when nobody listens. */
void job_finish(FileJob *job, int error, uint64_t count);
