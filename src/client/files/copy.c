#include "client/files/copy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

Url copy_url(const Copy *c, const char *page, const char *path) {
        Url u = url_fill(page, (char *const[]) { (char *) c->sandbox });

        url_query(&u, "path", path);
        url_query(&u, "user", c->user);
        return u;
}

int copy_stat(const Copy *c, const char *path, char **ret_type, uint64_t *ret_size) {
        _cleanup_answer_ Answer a = { 0 };
        int r = client_try(c->place, /* method= */ NULL, /* body= */ NULL, &a,
                        "/api/sandbox/%s/files/stat?path=%s&user=%s", c->sandbox, path, c->user);

        if (r < 0)
                return r;
        *ret_type = NULL;
        if (a.head.status == 404) {
                _cleanup_answer_ Answer sandbox = { 0 };

                return client_need_path(c->place, /* body= */ NULL, &sandbox, "/api/sandbox/%s",
                                c->sandbox); /* is it the sandbox that does not exist? */
        }
        if (!answer_is_good(&a))
                return answer_tell(&a);
        *ret_type = strdup(json_get_text_or(a.json, "type", "file"));
        if (ret_size)
                *ret_size = (uint64_t) json_get_integer(a.json, "size", 0);
        if (!*ret_type)
                return log_failure(-ENOMEM, "out of memory");
        return 0;
}

char *copy_name(const char *path) {
        size_t end = strlen(path), start;

        while (end > 0 && path[end - 1] == '/')
                end--;
        for (start = end; start > 0 && path[start - 1] != '/';)
                start--;
        if ((end - start == 1 && path[start] == '.') || (end - start == 2 && path[start] == '.' && path[start + 1] == '.'))
                return strdup("");
        return strndup(path + start, end - start);
}

char *copy_join(const char *directory, const char *name) {
        size_t n = strlen(directory);
        char *joined;

        if (name[0] == '\0')
                return strdup(directory);
        if (asprintf(&joined, "%s%s%s", directory, n > 0 && directory[n - 1] == '/' ? "" : "/", name) < 0)
                return NULL;
        return joined;
}
