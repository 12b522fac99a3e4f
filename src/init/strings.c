#include "init/strings.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"

#define POINTERS_MAX 512 /* enough for an ordinary command, without allocating memory */
#define PATH_OF_USER "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
#define PATH_OF_ROOT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static void *map_memory(size_t size) {
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        return p == MAP_FAILED ? NULL : p;
}

static char **strings_take_list(const uint8_t **data, const uint8_t *end, uint32_t n, char **list) {
        for (uint32_t i = 0; i < n; i++) {
                const uint8_t *nul = memchr(*data, 0, (size_t) (end - *data));

                if (!nul)
                        return NULL;
                *list++ = (char *) *data;
                *data = nul + 1;
        }
        *list++ = NULL;
        return list;
}

static const char *strings_find_path(char *const *envp, uid_t uid) {
        for (; *envp; envp++)
                if (strncmp(*envp, "PATH=", 5) == 0)
                        return *envp + 5;
        return uid == 0 ? PATH_OF_ROOT : PATH_OF_USER;
}

int strings_parse(const uint8_t *data, size_t size, uint32_t n_args, uint32_t n_env, uid_t uid, Strings *ret) {
        static char *few[POINTERS_MAX];
        const uint8_t *end = data + size, *nul = memchr(data, 0, size);
        size_t n_pointers = (size_t) n_args + n_env + 2;
        Strings s = { .workdir = (const char *) data };

        /* Each string has at least its NUL, so the size of the data bounds the lists. */
        if (!nul || n_args == 0 || n_pointers > size + 1)
                return -EINVAL;
        s.argv = few;
        if (n_pointers > POINTERS_MAX) {
                s.pointers_size = n_pointers * sizeof(char *);
                s.argv = s.pointers = map_memory(s.pointers_size);
                if (!s.pointers)
                        return -ENOMEM;
        }

        data = nul + 1;
        s.envp = strings_take_list(&data, end, n_args, s.argv);
        if (!s.envp || !strings_take_list(&data, end, n_env, s.envp) || data != end || s.argv[0][0] == '\0') {
                strings_done(&s);
                return -EINVAL;
        }
        s.path = strings_find_path(s.envp, uid);
        *ret = s;
        return 0;
}

static int strings_read_all(int fd, uint8_t *memory, size_t size) {
        for (size_t done = 0; done < size;) {
                ssize_t n = pread(fd, memory + done, size - done, (off_t) done);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        return -EINVAL;
                done += (size_t) n;
        }
        return 0;
}

int strings_read(int fd, uint32_t n_args, uint32_t n_env, uid_t uid, Strings *ret) {
        struct stat st;
        uint8_t *memory;
        size_t size;
        int r;

        if (fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) || st.st_size <= 0)
                return -EINVAL;
        if (st.st_size > STRINGS_MAX)
                return -E2BIG;
        size = (size_t) st.st_size;
        memory = map_memory(size);
        if (!memory)
                return -ENOMEM;

        /* Copied, not mapped: a process that holds the file could change it after the checks. */
        r = strings_read_all(fd, memory, size);
        if (r >= 0)
                r = strings_parse(memory, size, n_args, n_env, uid, ret);
        if (r < 0) {
                (void) munmap(memory, size);
                return r;
        }
        ret->blob = memory;
        ret->blob_size = size;
        return 0;
}

void strings_done(Strings *s) {
        if (s->pointers)
                (void) munmap(s->pointers, s->pointers_size);
        if (s->blob)
                (void) munmap(s->blob, s->blob_size);
        *s = (Strings) { 0 };
}
