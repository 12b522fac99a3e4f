/* strings.h: the working directory, arguments and environment of an execution, as they come from the daemon.
 *
 * Bytes of somebody else's choosing: counts and ends are checked. They are given to execve where they lie.
 * Must not know: where they lay before. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define STRINGS_MAX (4 * 1024 * 1024)

typedef struct Strings {
        const char *workdir;
        char **argv, **envp;
        const char *path; /* of that environment, or a default */

        char **pointers; /* the lists, where they did not fit into memory of ours */
        size_t pointers_size;
        void *blob;
        size_t blob_size;
} Strings;

/* The data must stay. -EINVAL: not as many strings as there should be. */
int strings_parse(const uint8_t *data, size_t size, uint32_t n_args, uint32_t n_env, uid_t uid, Strings *ret);

/* From a file, whose size is checked. */
int strings_read(int fd, uint32_t n_args, uint32_t n_env, uid_t uid, Strings *ret);

void strings_done(Strings *s);
