/* envd-users.c: looks up users of a sandbox, and resolves paths for them. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/envd/envd.h"
#include "base/fd.h"
#include "base/passwd.h"
#include "base/path.h"
#include "core/provider.h"

_Static_assert(sizeof(((EnvdUser *) NULL)->home) >= PASSWD_HOME_BYTES && ENVD_USER_MAX + 1 >= PASSWD_NAME_BYTES, "a line's texts must fit");

struct EnvdLookup {
        FileOp *op;
        EnvdLookupDone done;
        void *userdata;
        char name[ENVD_USER_MAX + 1]; /* "": by uid */
        uint32_t uid, gid;
        EnvdUser user;
        int result;
};

EnvdLookup *envd_lookup_cancel(EnvdLookup *l) {
        if (!l)
                return NULL;
        fileop_free(l->op);
        free(l);
        return NULL;
}

/* A number without a line is a valid user, as for the kernel. */
static int read_passwd(EnvdLookup *l, int fd) {
        _cleanup_free_ char *text = malloc(PASSWD_FILE_MAX);
        ssize_t n = text ? fd_read_full(fd, text, PASSWD_FILE_MAX) : -ENOMEM;
        PasswdUser u;
        bool found;

        if (n < 0)
                return (int) n;
        found = l->name[0] != '\0' ? passwd_find_name(text, (size_t) n, l->name, &u) : passwd_find_uid(text, (size_t) n, l->uid, &u);
        if (!found && l->name[0] != '\0')
                return -ENOENT;
        if (found) {
                l->user.uid = u.uid;
                l->user.gid = u.gid;
                (void) snprintf(l->user.name, sizeof(l->user.name), "%s", u.name);
                (void) snprintf(l->user.home, sizeof(l->user.home), "%s", u.home);
        }
        return 0;
}

static void envd_users_on_passwd(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        EnvdLookup *l = userdata;

        l->result = read_passwd(l, fd);
        (void) fd_close(fd);
}

static void on_passwd_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        EnvdLookup *l = userdata;
        int r = error < 0 ? error : l->result;
        EnvdUser user;

        if (error == -ENOENT && l->name[0] == '\0')
                r = 0; /* there is no passwd file */
        user = l->user;
        l->done(r, r < 0 ? NULL : &user, l->userdata);
}

static int envd_users_look_up(Sandbox *sb, const char *name, EnvdLookupDone done, void *userdata, EnvdLookup **ret, Error *reterr) {
        static const FileOpHandlers handlers = { .entry = envd_users_on_passwd, .end = on_passwd_end };
        EnvdLookup *l = calloc(1, sizeof(*l));
        FileRequest g;
        int r;

        if (!l)
                return error_set(reterr, -ENOMEM, "out of memory");
        l->done = done;
        l->userdata = userdata;
        l->uid = sb->spec.uid;
        l->user = (EnvdUser) { .uid = sb->spec.uid, .gid = sb->spec.gid, .home = "/" };
        (void) snprintf(l->user.name, sizeof(l->user.name), "%u", sb->spec.uid);
        (void) snprintf(l->name, sizeof(l->name), "%s", name ? name : "");
        envd_file_request(sb, /* user= */ NULL, FILE_READ, &g);
        (void) strcpy(g.path, "/etc/passwd");
        r = fileop_start(sb, &g, &handlers, l, &l->op, reterr);
        if (r < 0) {
                free(l);
                return r;
        }
        *ret = l;
        return 0;
}

/* A root directory made by the jail, without an image, has the sandbox's user by that name. */
static bool is_furnished(const Sandbox *sb) {
        return !sb->spec.layer && sb->spec.uid != 0;
}

int envd_user_lookup(Sandbox *sb, const char *name, EnvdLookupDone done, void *userdata, EnvdLookup **ret, Error *reterr) {
        static const EnvdUser root = { .name = "root", .home = "/root" };
        EnvdUser own = { .name = ENVD_USER_DEFAULT, .uid = sb->spec.uid, .gid = sb->spec.gid, .home = "/home/" ENVD_USER_DEFAULT };
        const bool is_own = !name || name[0] == '\0';
        const EnvdUser *known = NULL;

        *ret = NULL;
        if (!is_own && (strlen(name) > ENVD_USER_MAX || strpbrk(name, ":\n"))) {
                done(-ENOENT, NULL, userdata);
                return 0;
        }
        if (is_own ? sb->spec.uid == 0 : strcmp(name, root.name) == 0)
                known = &root;
        else if ((is_own || strcmp(name, own.name) == 0) && is_furnished(sb))
                known = &own;
        if (!known)
                return envd_users_look_up(sb, is_own ? NULL : name, done, userdata, ret, reterr);
        done(0, known, userdata);
        return 0;
}

int envd_path(const EnvdUser *user, const char *workdir, const char *text, char **ret) {
        _cleanup_free_ char *path = NULL;
        int n;

        if (!text || text[0] == '\0')
                text = workdir && workdir[0] != '\0' ? workdir : user->home;
        if (text[0] == '~' && text[1] != '\0' && text[1] != '/')
                return -EINVAL;
        if (text[0] == '/')
                n = asprintf(&path, "%s", text);
        else
                n = asprintf(&path, "%s/%s", user->home, text[0] == '~' ? text + 1 : text);
        if (n < 0) {
                path = NULL;
                return -ENOMEM;
        }
        path_simplify(path);
        if (strlen(path) >= FILE_PATH_BYTES)
                return -EINVAL;
        *ret = TAKE_PTR(path);
        return 0;
}

void envd_file_request(const Sandbox *sb, const EnvdUser *user, FileOperation operation, FileRequest *ret) {
        const bool one_user = sb->manager->provider->one_user;

        *ret = (FileRequest) {
                .operation = (uint16_t) operation,
                .uid = one_user ? sb->spec.uid : 0,
                .gid = one_user ? sb->spec.gid : 0,
                .mode = FILE_MODE_NONE,
                .owner = user && !one_user ? user->uid : FILE_ID_NONE,
                .group = user && !one_user ? user->gid : FILE_ID_NONE,
        };
}

Sandbox *envd_sandbox(const ApiRequest *q) {
        return sandbox_unless_gone(q->about);
}

const char *envd_strerror(int error) {
        static const struct {
                int error;
                const char *text;
        } texts[] = {
                { ENOENT,    "no such file or directory" },
                { ENOTDIR,   "not a directory"           },
                { EISDIR,    "is a directory"            },
                { EEXIST,    "file exists"               },
                { ENOTEMPTY, "directory not empty"       },
                { EACCES,    "permission denied"         },
                { EPERM,     "operation not permitted"   },
                { EROFS,     "read-only file system"     },
                { ENOSPC,    "no space left on device"   },
                { EDQUOT,    "disk quota exceeded"       },
                { EINVAL,    "invalid argument"          },
                { EBUSY,     "device or resource busy"   },
                { ETXTBSY,   "text file busy"            },
                { ELOOP,     "too many levels of symbolic links" },
                { ENAMETOOLONG, "file name too long"     },
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                if (texts[i].error == error)
                        return texts[i].text;
        return strerror(error);
}
