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
#include "base/proxy.h"
#include "base/text.h"

#define FILE_BYTES_MAX (256 * 1024)
#define HOST_MAX       300

/* Reads lines with one of these keys, ignoring case. A key that begins with "*" matches by its end, as
 * "@scope:registry". */
typedef struct RegistryFile {
        const char *path;   /* of a directory: with a slash at its end */
        const char *suffix; /* of the names in it */
        bool continues;     /* a line that begins further right than a setting goes on with it */
        const char *const *hosts, *const *http_proxy, *const *https_proxy;
} RegistryFile;

static const char *const one_line[] = { "deb", "deb-src", NULL }, *const deb822[] = { "URIs", NULL }, *const nothing[] = { NULL };
static const char *const apt_http[] = { "*http::proxy", "proxy", NULL }, *const apt_https[] = { "*https::proxy", NULL };
static const char *const pip_index[] = { "index-url", "extra-index-url", "find-links", NULL }, *const pip_proxy[] = { "proxy", NULL };
static const char *const npm_registry[] = { "*registry", NULL };
static const char *const npm_http[] = { "proxy", "http-proxy", NULL }, *const npm_https[] = { "https-proxy", "proxy", NULL };

static const RegistryFile files[] = {
        { "etc/apt/sources.list",    NULL,       false, one_line,     nothing,   nothing   },
        { "etc/apt/sources.list.d/", ".list",    false, one_line,     nothing,   nothing   },
        { "etc/apt/sources.list.d/", ".sources", true,  deb822,       nothing,   nothing   },
        { "etc/pip.conf",            NULL,       true,  pip_index,    pip_proxy, pip_proxy },
        { "etc/npmrc",               NULL,       false, npm_registry, npm_http,  npm_https },
        { "usr/etc/npmrc",           NULL,       false, npm_registry, npm_http,  npm_https },
        { "usr/local/etc/npmrc",     NULL,       false, npm_registry, npm_http,  npm_https },
        { "etc/apt/apt.conf",        NULL,       false, nothing,      apt_http,  apt_https }, /* last: apt's proxy may be a cache for apt alone */
        { "etc/apt/apt.conf.d/",     "",         false, nothing,      apt_http,  apt_https },
};

/* In the order of precedence. HTTP_PROXY is left out: a CGI program gets it from a request header, and no
 * client uses it. */
static const char *const http_variables[] = { "http_proxy", "all_proxy", "ALL_PROXY", NULL };
static const char *const https_variables[] = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", NULL };
static const char *const no_variables[] = { "no_proxy", "NO_PROXY", NULL };

void registries_done(Registries *r) {
        strv_done(&r->hosts);
        r->http_proxy = proxy_url_free(r->http_proxy);
        r->https_proxy = proxy_url_free(r->https_proxy);
        free(r->no_proxy);
        r->no_proxy = NULL;
}

static int registries_add(Strv *list, const char *text) {
        int r;

        for (size_t i = 0; i < list->n; i++)
                if (strcmp(list->items[i], text) == 0)
                        return 0;
        r = strv_push(list, text);
        return r == -E2BIG ? 0 : r;
}

/* Returns the host in a URL. A password before it may have any letter but a slash. */
static const char *url_place(const char *url, size_t size) {
        const char *place = (const char *) memmem(url, size, "://", 3) + 3, *at;
        size_t n = MIN_OF(strcspn(place, "/ \t\r\n\"'"), (size_t) (url + size - place));

        at = memrchr(place, '@', n);
        return at ? at + 1 : place;
}

/* Returns the size of a URL that a line begins with. */
static size_t url_size(const char *url, size_t size) {
        const char *place = url_place(url, size);

        return MIN_OF((size_t) (place - url) + strcspn(place, " \t\r\n\"';,"), size);
}

/* "https://user:password@HOST:PORT/path" becomes "https://host:port"; a host that is neither a name nor an
 * address is left out. */
static int add_url(Strv *list, const char *url, size_t size) {
        const char *host = url_place(url, size), *end = url + size;
        char text[HOST_MAX];
        int n = (int) ((const char *) memmem(url, size, "://", 3) + 3 - url);

        for (const char *p = host; p < end; p++)
                if (strchr("/?#", *p))
                        end = p;
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
                n = url_size(p, (size_t) (end - p));
                r = add_url(list, p, n);
                p += n - 1;
        }
        return r;
}

/* The first value counts: the text after the key, without quotes. apt's DIRECT and npm's null are no proxy. */
static int proxy_take(char **proxy, const char *line, size_t size) {
        const char *value = memmem(line, size, "://", 3), *end = line + size;

        if (*proxy || !value)
                return 0;
        while (value > line && !strchr(" \t\"'=", value[-1]))
                value--;
        *proxy = strndup(value, url_size(value, (size_t) (end - value)));
        return *proxy ? 0 : -ENOMEM;
}

/* pip takes "--index_url" for "index-url". */
static bool registries_is_word(const char *text, size_t n, const char *word) {
        size_t i = 0;

        while (i < n && word[i] && (tolower((unsigned char) text[i]) == tolower((unsigned char) word[i]) || (text[i] == '_' && word[i] == '-')))
                i++;
        return i == n && !word[i];
}

static bool registries_is_key(const char *line, size_t size, const char *const *words) {
        size_t n = 0;

        while (n < size && !strchr(" \t=\"", line[n]) && !(line[n] == ':' && (n + 1 == size || isspace((unsigned char) line[n + 1]))))
                n++;
        for (; *words; words++) {
                size_t length = strlen(*words) - (**words == '*');

                if (**words == '*' ? n >= length && registries_is_word(line + n - length, length, *words + 1) : registries_is_word(line, n, *words))
                        return true;
        }
        return false;
}

static bool line_is_comment(const char *line) {
        return strchr("#;", *line) || strncmp(line, "//", 2) == 0;
}

static int read_hosts(const char *text, const RegistryFile *f, Strv *list) {
        size_t indent = 0;
        bool wanted = false;
        int r = 0;

        for (size_t n; *text && r >= 0; text += n + (text[n] == '\n')) {
                const char *line = text + strspn(text, " \t");
                size_t size;

                n = strcspn(text, "\n");
                if (line >= text + n || line_is_comment(line))
                        continue;
                size = (size_t) (text + n - line);
                if (!wanted || !f->continues || (size_t) (line - text) <= indent) {
                        wanted = registries_is_key(line, size, f->hosts);
                        indent = (size_t) (line - text);
                }
                if (wanted)
                        r = add_urls(list, line, size);
        }
        return r;
}

static int read_proxy(const char *text, const char *const *words, char **proxy) {
        int r = 0;

        for (size_t n; *text && r >= 0; text += n + (text[n] == '\n')) {
                const char *line = text + strspn(text, " \t");

                n = strcspn(text, "\n");
                if (line < text + n && !line_is_comment(line) && registries_is_key(line, (size_t) (text + n - line), words))
                        r = proxy_take(proxy, line, (size_t) (text + n - line));
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
        r = read_hosts(text, f, &ret->hosts);
        if (r >= 0)
                r = read_proxy(text, f->http_proxy, &ret->http_proxy);
        if (r >= 0)
                r = read_proxy(text, f->https_proxy, &ret->https_proxy);
        explicit_bzero(text, (size_t) st.st_size);
        return r;
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

static const char *variable_find(char *const *environment, const char *name) {
        size_t n = strlen(name);

        for (; environment && *environment; environment++)
                if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=' && (*environment)[n + 1])
                        return *environment + n + 1;
        return NULL;
}

static int registries_read_variable(char *const *environment, const char *const *names, char **ret) {
        for (; *names; names++) {
                const char *value = variable_find(environment, *names);

                if (value)
                        return string_copy(ret, value);
        }
        return 0;
}

static int read_variables(char *const *environment, Registries *ret) {
        int r = registries_read_variable(environment, http_variables, &ret->http_proxy);

        if (r >= 0)
                r = registries_read_variable(environment, https_variables, &ret->https_proxy);
        return r < 0 ? r : registries_read_variable(environment, no_variables, &ret->no_proxy);
}

int registries_read(int root, char *const *environment, Registries *ret) {
        int r = read_variables(environment, ret);

        for (size_t i = 0; i < ELEMENTSOF(files) && r >= 0; i++)
                r = files[i].suffix ? read_directory(root, files + i, ret) : read_one(root, files[i].path, files + i, ret);
        return r;
}
