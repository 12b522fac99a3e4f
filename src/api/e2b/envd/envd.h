/* envd.h: shared by envd's services: users and paths in the sandbox.
 *
 * Users are looked up in the sandbox's current /etc/passwd; the sandbox's own user may be known without that.
 * Only "~" and relative paths are resolved here: the worker inside resolves links.
 * Must not know: details of HTTP and Connect. */
#pragma once

#include "api/e2b/connect/connect.h"
#include "api/e2b/e2b.h"
#include "core/fileop.h"

#define ENVD_USER_MAX 64
#define ENVD_USER_DEFAULT "user"

typedef struct EnvdUser {
        char name[ENVD_USER_MAX + 1];
        uint32_t uid, gid;
        char home[1024];
} EnvdUser;

typedef struct EnvdLookup EnvdLookup;
/* r: 0; -ENOENT: no such user; else a negative errno. Called once, possibly before envd_user_lookup()
 * returns. */
typedef void (*EnvdLookupDone)(int r, const EnvdUser *user, void *userdata);
/* name NULL or "": the sandbox's own user. *ret is NULL if done has been called already. Else the caller must
 * free it with envd_lookup_cancel(), also after done, and may do so from within done. */
int envd_user_lookup(Sandbox *sb, const char *name, EnvdLookupDone done, void *userdata, EnvdLookup **ret, Error *reterr);
EnvdLookup *envd_lookup_cancel(EnvdLookup *l);

/* Makes a path absolute and clean: "" → the working directory; "~", "~/x" → home; relative → below home.
 * -EINVAL: "~other", too long, a NUL. */
int envd_path(const EnvdUser *user, const char *workdir, const char *text, char **ret);

/* filesystem-watchers.c: watchers for clients without a stream; they belong to the surface. */
typedef struct FsWatchers FsWatchers;
FsWatchers *fs_watchers_new(void);
FsWatchers *fs_watchers_free(FsWatchers *all);
FsWatchers *fs_watchers_of(const Api *api);

/* Fills in an operation for a user. As in envd, root does it, and new files belong to the user. In a sandbox
 * with only one user, that user does it. */
void envd_file_request(const Sandbox *sb, const EnvdUser *user, FileOperation operation, FileRequest *ret);
/* The request's sandbox, looked up again after a wait. NULL: it has gone. */
Sandbox *envd_sandbox(const ApiRequest *q);
/* An errno in the words of Go's libraries, which clients know. */
const char *envd_strerror(int error);

/* /files: answers that the user does not exist, or with the error of an operation. */
void envd_files_refuse_user(ApiRequest *q, int r, const char *name);
/* /files: calls envd_user_lookup() and stores the lookup in *at, unless it is over at once. Answers on
 * failure. */
void envd_files_lookup(ApiRequest *q, const char *name, EnvdLookupDone done, void *userdata, EnvdLookup **at);

/* Handlers of envd's plain HTTP; envd.c has the routes. */
void envd_files_get(ApiRequest *q);
void envd_files_post(ApiRequest *q);
ssize_t envd_files_post_data(ApiRequest *q, const void *data, size_t size);
void envd_files_compose(ApiRequest *q);
