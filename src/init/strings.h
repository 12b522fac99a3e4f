/* strings.h: the working directory, arguments and environment of an execution, as they come from the daemon.
 *
 * Untrusted bytes: counts and terminators are checked. They are passed to execve in place, without a copy.
 * Must not know: where they come from. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define STRINGS_MAX (4 * 1024 * 1024)

typedef struct Strings {
        const char *workdir;
        char **argv, **envp;
        const char *path; /* PATH of that environment, or a default */

        char **pointers; /* mapped memory for the lists, if they do not fit into the static memory */
        size_t pointers_size;
        void *blob;
        size_t blob_size;
} Strings;

/* The data must stay valid. -EINVAL: the number of strings is not n_args + n_env and the directory. */
int strings_parse(const uint8_t *data, size_t size, uint32_t n_args, uint32_t n_env, uid_t uid, Strings *ret);

/* From a file, whose size is checked. */
int strings_read(int fd, uint32_t n_args, uint32_t n_env, uid_t uid, Strings *ret);

void strings_done(Strings *s);
