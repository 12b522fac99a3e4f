#include "client/txn/txn-common.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"

int txn_open_told(const char *id, bool lock, Txn *ret) {
        Error error = { 0 };
        int r = txn_open(id, lock, ret, &error);

        return r < 0 ? log_failure(r, "%s", error.text) : r;
}

/* The working directory relative to the transaction's directory; "": its top, or elsewhere. */
static const char *own_place(const Txn *t, char cwd[static PATH_MAX]) {
        size_t n = strlen(t->dir);

        if (!getcwd(cwd, PATH_MAX) || !path_is_below(cwd, t->dir) || strcmp(cwd, t->dir) == 0)
                return "";
        return cwd + n + (t->dir[n - 1] != '/');
}

static int txn_common_add_path(const Txn *t, const char *word, const char *here, Strv *ret) {
        _cleanup_free_ char *whole = NULL, *clean = NULL;
        bool absolute = word[0] == '/';
        int r;

        if (absolute ? asprintf(&whole, "%s", word) < 0 : asprintf(&whole, "/%s/%s", here, word) < 0) {
                whole = NULL;
                return -ENOMEM;
        }
        r = path_normalize(whole, &clean);
        if (r < 0)
                return r;
        if (absolute && !path_is_below(clean, t->dir))
                return -EXDEV;
        return strv_push(ret, absolute ? clean + strlen(t->dir) + (clean[strlen(t->dir)] == '/') : clean + 1);
}

int txn_paths(const Txn *t, char *const *words, size_t n, Strv *ret) {
        char cwd[PATH_MAX];
        const char *here = own_place(t, cwd);

        for (size_t i = 0; i < n; i++) {
                int r = txn_common_add_path(t, words[i], here, ret);

                if (r == -EXDEV)
                        log_error("'%s' is not below '%s'", words[i], t->dir);
                else if (r < 0)
                        log_error("'%s': %s", words[i], strerror(-r));
                if (r < 0)
                        return r;
        }
        return 0;
}

void change_count_put(json_t *object, const ChangeCount *n) {
        static const struct {
                const char *key;
                ChangeKind kind;
        } members[] = { { "added", CHANGE_ADDED }, { "modified", CHANGE_MODIFIED }, { "deleted", CHANGE_DELETED } };

        for (size_t i = 0; i < ELEMENTSOF(members); i++)
                (void) json_object_set_new(object, members[i].key, json_pack("I", (json_int_t) n->kinds[members[i].kind]));
}
