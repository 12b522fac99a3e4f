/* replay: runs files, and all files of directories, through a fuzzer. For every test run, with any compiler.
 *
 *     replay-parse corpus/parse [FILE…]
 *
 * Fails when there was nothing to run: a corpus that has gone missing shall be noticed. */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/fd.h"

#define INPUT_MAX (1 << 20)

static size_t n_run;

static int replay_file(const char *path) {
        _cleanup_free_ char *data = NULL;
        _cleanup_free_ uint8_t *exact = NULL;
        size_t size;
        int r = file_read_alloc(AT_FDCWD, path, INPUT_MAX, &data, &size);

        if (r < 0) {
                fprintf(stderr, "%s: %s\n", path, strerror(-r));
                return r;
        }
        exact = malloc(size > 0 ? size : 1); /* of the input's own size, for the sanitizer */
        if (!exact)
                return -ENOMEM;
        memcpy(exact, data, size);
        fprintf(stderr, "%s\n", path); /* the last line before a crash names its input */
        (void) LLVMFuzzerTestOneInput(exact, size);
        n_run++;
        return 0;
}

static int replay_directory(const char *path) {
        struct dirent **entries;
        int n = scandir(path, &entries, NULL, alphasort), r = 0;

        if (n < 0) {
                fprintf(stderr, "%s: %m\n", path);
                return -errno;
        }
        for (int i = 0; i < n; i++) {
                char full[4096];

                if (r == 0 && entries[i]->d_name[0] != '.') {
                        (void) snprintf(full, sizeof(full), "%s/%s", path, entries[i]->d_name);
                        r = replay_file(full);
                }
                free(entries[i]);
        }
        free(entries);
        return r;
}

int main(int argc, char **argv) {
        for (int i = 1; i < argc; i++) {
                struct stat st;
                int r = stat(argv[i], &st) < 0 ? -errno
                        : S_ISDIR(st.st_mode)  ? replay_directory(argv[i])
                                               : replay_file(argv[i]);

                if (r < 0) {
                        fprintf(stderr, "%s: %s\n", argv[i], strerror(-r));
                        return 1;
                }
        }
        if (n_run == 0) {
                fprintf(stderr, "no input to replay\n");
                return 1;
        }
        printf("%zu inputs\n", n_run);
        return 0;
}
