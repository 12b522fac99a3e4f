/* envd.h: what envd's services share: users and paths inside.
 *
 * Users are those of the sandbox's own /etc/passwd, as it is at that moment; the sandbox's user is known without a look. Nothing else of a path is resolved here than
 * "~" and what is relative: links are the worker's business, inside.
 * Must not know: HTTP's details, Connect's. */
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
/* r: 0; -ENOENT: there is no such user; else a negative errno. Once; possibly before the call returns. */
typedef void (*EnvdLookupDone)(int r, const EnvdUser *user, void *userdata);
/* name NULL or "": the sandbox's own. ret is NULL when done has been called already; else it is the caller's to free, by the function below, done or not (also from within done). */
int envd_user_lookup(Sandbox *sb, const char *name, EnvdLookupDone done, void *userdata, EnvdLookup **ret, Error *reterr);
EnvdLookup *envd_lookup_cancel(EnvdLookup *l);

/* Absolute and clean: "" → the working directory; "~", "~/x" → home; relative → below home. -EINVAL: "~other", too long, a NUL. */
int envd_path(const EnvdUser *user, const char *workdir, const char *text, char **ret);

/* filesystem-watchers.c: what clients watch without a stream; the surface's, made with it. */
typedef struct FsWatchers FsWatchers;
FsWatchers *fs_watchers_new(void);
FsWatchers *fs_watchers_free(FsWatchers *all);
FsWatchers *fs_watchers_of(const Api *api);

/* An operation on behalf of a user: done by root inside, as envd does it, and what it makes is the user's. Where a sandbox has one user only, by that one. */
void envd_file_request(const Sandbox *sb, const EnvdUser *user, FileOperation operation, FileRequest *ret);
/* The request's sandbox, looked up again: it may have gone while something was waited for. NULL: it has. */
Sandbox *envd_sandbox(const ApiRequest *q);
/* A failed operation's errno, as Go's libraries put it, so that texts are those that clients know. */
const char *envd_strerror(int error);

/* /files, of a user that does not exist; of an operation that failed. */
void envd_files_refuse_user(ApiRequest *q, int r, const char *name);
/* /files, on behalf of a user: envd_user_lookup() into the request's state, if it is not over at once. Answers when it cannot. */
void envd_files_lookup(ApiRequest *q, const char *name, EnvdLookupDone done, void *userdata, EnvdLookup **at);

/* Routes of envd's plain HTTP, for the table in envd.c. */
void envd_files_get(ApiRequest *q);
void envd_files_post(ApiRequest *q);
ssize_t envd_files_post_data(ApiRequest *q, const void *data, size_t size);
void envd_files_compose(ApiRequest *q);
