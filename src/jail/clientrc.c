#include "jail/clientrc.h"

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

#include "base/fd.h"
#include "base/macro.h"

const char *const clientrc_npm_places[CLIENTRC_NPM_PLACES] = { CLIENTRC_NPM, "usr/etc/npmrc", "usr/local/etc/npmrc" };

#define BLANKS      " \t\f\v"
#define PIP_SECTION "[global]"
#define PIP_SETTING "break-system-packages = true"
#define NPM_AUTHORITIES "cafile=/etc/ssl/certs/ca-certificates.crt\n"

static void clientrc_add(char *ret, size_t size, const char *text, size_t n) {
        size_t used = strlen(ret);

        (void) snprintf(ret + used, size - used, "%.*s", (int) n, text);
}

/* https://user:password@host/, and what clients take for it: user:password@host, https:/user:password@host/. npm reads a quoted text as
 * JSON, where \u0040 is '@', too. */
static bool clientrc_has_password(const char *value, size_t n) {
        return memchr(value, '@', n) || memmem(value, n, "\\u", 2);
}

/* The directories in which the guest finds the host's certificate authorities, too. */
static bool clientrc_line_is_visible(const char *line, size_t n) {
        static const char *const visible[] = { "/etc/ssl/certs/", "/usr/" };
        const char *value = memchr(line, '/', n);

        for (size_t i = 0; value && i < ELEMENTSOF(visible); i++)
                if (strncmp(value, visible[i], strlen(visible[i])) == 0)
                        return true;
        return false;
}

/* pip takes "--client_cert", and "__client_cert", for "client-cert". */
static bool clientrc_pip_is(const char *line, size_t n, const char *name) {
        const char *end = line + n;

        line += strspn(line, "-_");
        for (; *name && line < end; name++, line++)
                if (tolower((unsigned char) (*line == '_' ? '-' : *line)) != *name)
                        return false;
        line += strspn(line, BLANKS);
        return !*name && line < end && strchr("=:", *line);
}

/* A proxy is for the host's own clients, not for those behind the gate, and its password may have a form that
 * is no URL. */
static bool clientrc_pip_is_hosts(const char *line, size_t n) {
        return clientrc_pip_is(line, n, "proxy") || clientrc_pip_is(line, n, "client-cert") ||
               (clientrc_pip_is(line, n, "cert") && !clientrc_line_is_visible(line, n));
}

static void clientrc_add_line(char *ret, size_t size, const char *before, const char *line, size_t n) {
        clientrc_add(ret, size, before, strlen(before));
        clientrc_add(ret, size, line, n);
        clientrc_add(ret, size, "\n", 1);
}

/* A line of Python's configparser, without the blanks around it. */
typedef struct PipLine {
        const char *text;
        size_t n, indent;
} PipLine;

/* Skips comments and empty lines. */
static bool clientrc_next_pip(const char **host, PipLine *ret) {
        while (**host) {
                const char *begin = *host, *text = begin + strspn(begin, BLANKS), *end = begin + strcspn(begin, "\r\n");

                *host = end + (*end != '\0');
                if (text >= end || strchr("#;", *text))
                        continue;
                while (strchr(BLANKS, end[-1]))
                        end--;
                *ret = (PipLine) { text, (size_t) (end - text), (size_t) (text - begin) };
                return true;
        }
        return false;
}

static bool clientrc_pip_decides(const char *host) {
        for (PipLine line; clientrc_next_pip(&host, &line);)
                if (clientrc_pip_is(line.text, line.n, "break-system-packages"))
                        return true;
        return false;
}

/* A line that begins further right than the setting before it goes on with that. All settings begin at the left here,
 * since ours is among them. */
void clientrc_filter_pip(char *ret, size_t size, const char *host) {
        bool done = clientrc_pip_decides(host), in_setting = false, dropped = false;
        size_t indent = 0;

        ret[0] = '\0';
        for (PipLine line; clientrc_next_pip(&host, &line);) {
                const bool goes_on = in_setting && line.indent > indent;

                if (!goes_on) {
                        indent = line.indent;
                        in_setting = *line.text != '[';
                        dropped = clientrc_pip_is_hosts(line.text, line.n);
                }
                if (!dropped && !clientrc_has_password(line.text, line.n))
                        clientrc_add_line(ret, size, goes_on ? "    " : "", line.text, line.n);
                if (done || in_setting || strncmp(line.text, PIP_SECTION, strlen(PIP_SECTION)) != 0)
                        continue;
                clientrc_add_line(ret, size, "", PIP_SETTING, strlen(PIP_SETTING));
                done = true;
        }
        if (!done)
                clientrc_add_line(ret, size, PIP_SECTION "\n", PIP_SETTING, strlen(PIP_SETTING));
}

/* Returns what is behind "=", or NULL. npm takes any other letter for a part of the name. */
static const char *clientrc_npm_value(const char *line, size_t n, const char *name) {
        const size_t length = strlen(name);
        const char *rest = line + length;

        if (n <= length || strncmp(line, name, length) != 0)
                return NULL;
        if (strncmp(rest, "[]", 2) == 0)
                rest += 2;
        rest += strspn(rest, BLANKS);
        return rest < line + n && *rest == '=' ? rest + 1 : NULL;
}

/* All other settings are the host's own: proxies, passwords, appearance. */
static bool clientrc_npm_is_shown(const char *line, size_t n) {
        static const char *const names[] = { "registry", "ca", "cafile", "strict-ssl", "replace-registry-host", "audit", "fund", "update-notifier" };
        const char *scope = *line == '@' ? memchr(line, ':', n) : NULL, *end = line + n, *value = NULL;

        if (scope)
                value = clientrc_npm_value(scope + 1, (size_t) (end - scope - 1), "registry");
        for (size_t i = 0; !value && i < ELEMENTSOF(names); i++)
                value = clientrc_npm_value(line, n, names[i]);
        if (!value || clientrc_has_password(value, (size_t) (end - value)))
                return false;
        return !clientrc_npm_value(line, n, "cafile") || clientrc_line_is_visible(line, n);
}

static bool clientrc_has_line(const char *text, const char *line, size_t n) {
        for (size_t length; *text; text += length + (text[length] == '\n')) {
                length = strcspn(text, "\n");
                if (length == n && memcmp(text, line, n) == 0)
                        return true;
        }
        return false;
}

/* Each line once: so the places together give the same, whether the first of them is the host's or the one that this has made. */
void clientrc_filter_npm(char *ret, size_t size, const char *host) {
        bool has_authorities = false;

        ret[0] = '\0';
        for (size_t length; *host; host += length + (host[length] != '\0')) {
                size_t n;

                host += strspn(host, BLANKS);
                length = strcspn(host, "\r\n");
                n = MIN_OF(length, strcspn(host, ";#")); /* a comment is the host's own */
                while (n > 0 && strchr(BLANKS, host[n - 1]))
                        n--;
                if (!clientrc_npm_is_shown(host, n) || clientrc_has_line(ret, host, n))
                        continue;
                clientrc_add(ret, size, host, n);
                clientrc_add(ret, size, "\n", 1);
                has_authorities = has_authorities || *host == 'c';
        }
        if (!has_authorities) /* npm has a list of its own, without the host's authorities */
                clientrc_add(ret, size, NPM_AUTHORITIES, strlen(NPM_AUTHORITIES));
}

/* Whether what is left before this '@' is surely no password: a path behind a host, or a key's file. */
static bool clientrc_apt_is_harmless(const char *line, const char *at) {
        static const char option[] = "signed-by=/", field[] = "signed-by:";
        const char *word = at, *url;

        while (word > line && !strchr(BLANKS, word[-1]))
                word--;
        word += *word == '[';
        if (strncasecmp(word, option, strlen(option)) == 0 || (strncasecmp(line, field, strlen(field)) == 0 && *word == '/'))
                return true;
        url = memmem(word, (size_t) (at - word), "://", 3);
        return url && memchr(url + 3, '/', (size_t) (at - url) - 3) && !memchr(url, '[', (size_t) (at - url)) && !memchr(url, '%', (size_t) (at - url));
}

/* apt knows more spellings of a password than clientrc_strip_urls() does: http:user:password@host, quotes and brackets with a slash or
 * a blank in them, and %40 for '@'. */
static bool clientrc_apt_is_odd(const char *line, size_t n) {
        for (const char *p = line; p < line + n; p++)
                if ((*p == '@' || (n - (size_t) (p - line) >= 3 && strncmp(p, "%40", 3) == 0)) &&
                    (memchr(line, '"', n) || !clientrc_apt_is_harmless(line, p)))
                        return true;
        return false;
}

static void clientrc_strip_urls(char *text) {
        for (char *at = text; (at = strstr(at, "://"));) {
                char *host, *end;

                at += strlen("://");
                end = at + strcspn(at, "/ \t\r\n"); /* apt takes any other letter for a part of the password */
                host = memrchr(at, '@', (size_t) (end - at));
                if (host)
                        memmove(at, host + 1, strlen(host + 1) + 1);
        }
}

/* A line whose password has another spelling becomes an empty comment; an empty line would end a stanza. */
void clientrc_strip_passwords(char *text) {
        clientrc_strip_urls(text);
        for (size_t n; *text; text += n + (text[n] != '\0')) {
                n = strcspn(text, "\r\n");
                if (!clientrc_apt_is_odd(text, n))
                        continue;
                memmove(text + 1, text + n, strlen(text + n) + 1);
                *text = '#';
                n = 1;
        }
}

/* key: a private one. */
static bool clientrc_npm_has_password(const char *text) {
        for (size_t n; *text; text += n + (text[n] != '\0')) {
                const char *value;

                n = strcspn(text, "\r\n");
                value = memchr(text, '=', n);
                if (memmem(text, n, "_auth", 5) || memmem(text, n, "_password", 9) || memmem(text, n, "\\u", 2) ||
                    clientrc_npm_value(text + strspn(text, BLANKS), n, "key") || (value && clientrc_has_password(value, (size_t) (text + n - value))))
                        return true;
        }
        return false;
}

bool clientrc_npm_without_password(int root, const char *path, char ret[static CLIENTRC_BYTES]) {
        _cleanup_close_ int fd = openat(root, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
        char text[CLIENTRC_BYTES] = "";
        struct stat st;
        ssize_t n;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return false;
        n = fd_read_full(fd, text, sizeof(text) - 1);
        if (n == st.st_size && (size_t) n == strlen(text) && !clientrc_npm_has_password(text))
                return false;
        if (n < st.st_size) /* half a line could be half a password */
                while (n > 0 && !strchr("\r\n", text[n - 1]))
                        text[--n] = '\0';
        clientrc_filter_npm(ret, CLIENTRC_BYTES, text);
        return true;
}

/* A file that other users of the host may not read, or one longer than any real one, counts as missing. */
static void clientrc_read_one(int root, const char *path, char *ret, size_t size) {
        _cleanup_close_ int fd = openat(root, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        struct stat st;
        ssize_t n = 0;

        if (fd >= 0 && fstat(fd, &st) >= 0 && S_ISREG(st.st_mode) && (st.st_mode & S_IROTH) && st.st_size < (off_t) size)
                n = fd_read_full(fd, ret, size - 1);
        ret[n > 0 ? n : 0] = '\0';
}

void clientrc_read_pip(int root, char ret[static CLIENTRC_BYTES]) {
        char host[CLIENTRC_BYTES / 2];

        clientrc_read_one(root, CLIENTRC_PIP, host, sizeof(host));
        clientrc_filter_pip(ret, CLIENTRC_BYTES, host);
}

void clientrc_read_npm(int root, char ret[static CLIENTRC_BYTES]) {
        char host[CLIENTRC_NPM_PLACES * CLIENTRC_BYTES / 4] = "";

        for (size_t i = 0; i < CLIENTRC_NPM_PLACES; i++) {
                const size_t n = strlen(host);

                clientrc_read_one(root, clientrc_npm_places[i], host + n, CLIENTRC_BYTES / 4 - 1);
                if (host[n])
                        strcat(host, "\n");
        }
        clientrc_filter_npm(ret, CLIENTRC_BYTES, host);
}

bool clientrc_is_apt(const char *path) {
        return strncmp(path, CLIENTRC_APT, strlen(CLIENTRC_APT)) == 0;
}

int clientrc_copy_apt(int from, int to) {
        _cleanup_free_ char *text = NULL;
        struct stat st;
        ssize_t n;

        if (fstat(from, &st) < 0)
                return -errno;
        text = calloc(1, (size_t) st.st_size + 1);
        if (!text)
                return -ENOMEM;
        n = fd_read_full(from, text, (size_t) st.st_size);
        if (n < 0)
                return (int) n;
        clientrc_strip_passwords(text);
        return fd_write_all(to, text, strlen(text));
}
