#include "base/registries.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "base/macro.h"

#define FILE_BYTES_MAX (256 * 1024)
#define HOST_MAX       300

/* Lines whose key is one of the words, in any case. "*" before a word: the key ends in it, as "@scope:registry". */
typedef struct RegistryFile {
        const char *path;   /* of a directory: with a slash at its end */
        const char *suffix; /* of the names in it */
        const char *const *hosts, *const *proxies;
} RegistryFile;

static const char *const one_line[] = { "deb", "deb-src", NULL }, *const deb822[] = { "URIs", NULL }, *const nothing[] = { NULL };
static const char *const apt_proxy[] = { "*proxy", NULL };
static const char *const pip_index[] = { "index-url", "extra-index-url", "find-links", NULL }, *const pip_proxy[] = { "proxy", NULL };
static const char *const npm_registry[] = { "*registry", NULL }, *const npm_proxy[] = { "proxy", "https-proxy", "http-proxy", NULL };

static const RegistryFile files[] = {
        { "etc/apt/sources.list",    NULL,       one_line,     nothing   },
        { "etc/apt/sources.list.d/", ".list",    one_line,     nothing   },
        { "etc/apt/sources.list.d/", ".sources", deb822,       nothing   },
        { "etc/apt/apt.conf",        NULL,       nothing,      apt_proxy },
        { "etc/apt/apt.conf.d/",     "",         nothing,      apt_proxy },
        { "etc/pip.conf",            NULL,       pip_index,    pip_proxy },
        { "etc/npmrc",               NULL,       npm_registry, npm_proxy },
        { "usr/etc/npmrc",           NULL,       npm_registry, npm_proxy },
        { "usr/local/etc/npmrc",     NULL,       npm_registry, npm_proxy },
};

static const char *const proxy_variables[] = { "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY" };

void registries_done(Registries *r) {
        strv_done(&r->hosts);
        strv_done(&r->proxies);
}

static int registries_add(Strv *list, const char *text) {
        int r;

        for (size_t i = 0; i < list->n; i++)
                if (strcmp(list->items[i], text) == 0)
                        return 0;
        r = strv_push(list, text);
        return r == -E2BIG ? 0 : r;
}

/* "https://user:password@HOST:PORT/path" is "https://host:port"; what is no name or address is left out. */
static int add_url(Strv *list, const char *url, size_t size) {
        const char *host = (const char *) memmem(url, size, "://", 3) + 3, *end = url + size, *at;
        char text[HOST_MAX];
        int n = (int) (host - url);

        for (const char *p = host; p < end; p++)
                if (strchr("/?#", *p))
                        end = p;
        at = memrchr(host, '@', (size_t) (end - host));
        if (at)
                host = at + 1;
        if (end == host || (size_t) (end - host) + (size_t) n >= sizeof(text))
                return 0;
        (void) snprintf(text, sizeof(text), "%.*s%.*s", n, url, (int) (end - host), host);
        for (char *p = text; *p; p++) {
                *p = (char) tolower((unsigned char) *p);
                if (!isalnum((unsigned char) *p) && !strchr(":/.-_[]", *p))
                        return 0;
        }
        return registries_add(list, text);
}

static int add_urls(Strv *list, const char *line, size_t size) {
        const char *end = line + size;
        int r = 0;

        for (const char *p = line; p < end && r >= 0; p++) {
                size_t n;

                if (strncasecmp(p, "http://", 7) != 0 && strncasecmp(p, "https://", 8) != 0)
                        continue;
                n = MIN_OF(strcspn(p, " \t\r\n\"';,"), (size_t) (end - p));
                r = add_url(list, p, n);
                p += n - 1;
        }
        return r;
}

static bool registries_is_key(const char *line, size_t size, const char *const *words) {
        size_t n = 0;

        while (n < size && !strchr(" \t=\"", line[n]) && !(line[n] == ':' && (n + 1 == size || isspace((unsigned char) line[n + 1]))))
                n++;
        for (; *words; words++) {
                size_t length = strlen(*words) - (**words == '*');

                if (**words == '*' ? n >= length && strncasecmp(line + n - length, *words + 1, length) == 0
                                   : n == length && strncasecmp(line, *words, length) == 0)
                        return true;
        }
        return false;
}

/* A line that begins with a space goes on with the one before. */
static int read_lines(const char *text, const char *const *words, Strv *list) {
        bool wanted = false;
        int r = 0;

        for (size_t n; *text && r >= 0; text += n + (text[n] == '\n')) {
                const char *line = text + strspn(text, " \t");
                size_t size;

                n = strcspn(text, "\n");
                if (line >= text + n || strchr("#;", *line) || strncmp(line, "//", 2) == 0)
                        continue;
                size = (size_t) (text + n - line);
                wanted = registries_is_key(line, size, words) || (wanted && line > text);
                if (wanted)
                        r = add_urls(list, line, size);
        }
        return r;
}

static int read_one(int root, const char *path, const RegistryFile *f, Registries *ret) {
        _cleanup_close_ int fd = openat(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        _cleanup_free_ char *text = NULL;
        struct stat st;
        ssize_t n;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & S_IROTH) || st.st_size > FILE_BYTES_MAX)
                return 0;
        text = calloc(1, (size_t) st.st_size + 1);
        if (!text)
                return -ENOMEM;
        n = fd_read_full(fd, text, (size_t) st.st_size);
        text[n < 0 ? 0 : n] = '\0';
        r = read_lines(text, f->hosts, &ret->hosts);
        return r < 0 ? r : read_lines(text, f->proxies, &ret->proxies);
}

static bool has_suffix(const char *name, const char *suffix) {
        size_t n = strlen(name), length = strlen(suffix);

        return name[0] != '.' && n >= length && strcmp(name + n - length, suffix) == 0;
}

static int read_directory(int root, const RegistryFile *f, Registries *ret) {
        _cleanup_directory_ DIR *d = directory_open(root, f->path);
        const struct dirent *e;
        int r = 0;

        while (d && r >= 0 && (e = directory_next(d)))
                if (has_suffix(e->d_name, f->suffix))
                        r = read_one(dirfd(d), e->d_name, f, ret);
        return r;
}

static int read_variables(char *const *environment, Strv *list) {
        int r = 0;

        for (; environment && *environment && r >= 0; environment++)
                for (size_t i = 0; i < ELEMENTSOF(proxy_variables) && r >= 0; i++) {
                        size_t n = strlen(proxy_variables[i]);

                        if (strncmp(*environment, proxy_variables[i], n) == 0 && (*environment)[n] == '=')
                                r = add_urls(list, *environment + n + 1, strlen(*environment + n + 1));
                }
        return r;
}

int registries_read(int root, char *const *environment, Registries *ret) {
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(files) && r >= 0; i++)
                r = files[i].suffix ? read_directory(root, files + i, ret) : read_one(root, files[i].path, files + i, ret);
        return r < 0 ? r : read_variables(environment, &ret->proxies);
}
