/* file-job.h: one file operation in the worker that carries it out.
 *
 * The request, the channel to the client, and the helpers of all operations: answer, notice a hang-up of the client,
 * name the path that a failure is about.
 * Runs inside, in the worker, as the requested user. Must not know: what the operations do, PID 1. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "wire/file.h"

typedef struct FileJob {
        const FileRequest *request;
        int channel;
        int data_fd; /* -EBADF: none was sent */
        bool root;   /* may give files away */
        char about[FILE_PATH_BYTES]; /* the path that the failure is about; empty: the request's */
} FileJob;

/* Each records the path, unless a deeper function has recorded one, and returns the error. */
int job_fail(FileJob *job, int error, const char *path);
int job_fail_below(FileJob *job, int error, const char *directory, const char *relative);
int job_fail_at(FileJob *job, int error, int dirfd, const char *name);

/* -EPIPE: the client has hung up. A long operation calls this from time to time and gives up with that error. */
int job_alive(const FileJob *job);

/* These return -EPIPE too if the client has hung up. */
int job_send(FileJob *job, const FileMessage *message, int fd);
/* target: of a symbolic link; for other files the path of the entry that it is a hard link to. */
int job_send_entry(FileJob *job, const char *path, const char *target, const struct stat *st, int fd);
int job_receive(FileJob *job, FileMessage *ret); /* waits; data points into a buffer that the next call reuses */

/* Answers with END or FAILED; sends nothing if the client has hung up. */
void job_finish(FileJob *job, int error, uint64_t count);
