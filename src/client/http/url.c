#include "client/http/url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

void url_done(Url *u) {
        free(u->text);
        *u = (Url) { 0 };
}

static void url_add(Url *u, const char *text, size_t n) {
        char *bigger = realloc(u->text, u->size + n + 1);

        if (!bigger) {
                u->error = -ENOMEM;
                return;
        }
        memcpy(bigger + u->size, text, n);
        bigger[u->size + n] = '\0';
        u->text = bigger;
        u->size += n;
}

static void add_encoded(Url *u, const char *text) {
        for (; *text; text++) {
                unsigned char c = (unsigned char) *text;
                char encoded[4];

                if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || strchr("-._~", c))
                        url_add(u, text, 1);
                else {
                        (void) snprintf(encoded, sizeof(encoded), "%%%02X", c);
                        url_add(u, encoded, 3);
                }
        }
}

void url_begin(Url *u, const char *path) {
        url_done(u);
        url_add(u, path, strlen(path));
}

void url_fill(Url *u, const char *path, char *const *words) {
        url_done(u);
        for (; *path; path++)
                if (*path == '%')
                        add_encoded(u, *words++);
                else {
                        url_add(u, path, 1);
                        u->n_queries += *path == '?';
                }
}

void url_part(Url *u, const char *part) {
        url_add(u, "/", 1);
        add_encoded(u, part);
}

void url_query(Url *u, const char *name, const char *value) {
        if (!value)
                return;
        url_add(u, u->n_queries++ == 0 ? "?" : "&", 1);
        add_encoded(u, name);
        url_add(u, "=", 1);
        add_encoded(u, value);
}

void url_query_number(Url *u, const char *name, uint64_t value) {
        char text[24];

        (void) snprintf(text, sizeof(text), "%llu", (unsigned long long) value);
        url_query(u, name, text);
}

void url_sandbox(Url *u, const char *sandbox, const char *what) {
        url_begin(u, "/api/sandbox");
        url_part(u, sandbox);
        if (what) {
                url_add(u, "/", 1);
                url_add(u, what, strlen(what));
        }
}

void url_execution(Url *u, const char *sandbox, const char *execution, const char *what) {
        url_sandbox(u, sandbox, "exec");
        url_part(u, execution);
        if (what) {
                url_add(u, "/", 1);
                url_add(u, what, strlen(what));
        }
}
