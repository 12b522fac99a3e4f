/* envd.h: what envd's services share: users and paths inside.
 *
 * Users are those of the sandbox's own /etc/passwd, as it is at that moment; the sandbox's user is known without a look. Nothing else of a path is resolved here than
 * "~" and what is relative: links are the worker's business, inside.
 * Must not know: HTTP's details, Connect's. */
#pragma once

#include "api/e2b/connect.h"
#include "api/e2b/e2b.h"

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
/* name NULL or "": the sandbox's own. ret is NULL when done has been called already. */
int envd_user_lookup(Sandbox *sb, const char *name, EnvdLookupDone done, void *userdata, EnvdLookup **ret, Error *reterr);
EnvdLookup *envd_lookup_cancel(EnvdLookup *l);

/* Absolute and clean: "" → the working directory; "~", "~/x" → home; relative → below home. -EINVAL: "~other", too long, a NUL. */
int envd_path(const EnvdUser *user, const char *workdir, const char *text, char **ret);

/* Routes of envd's plain HTTP, for the table in envd.c. */
void envd_files_get(ApiRequest *q);
void envd_files_post(ApiRequest *q);
ssize_t envd_files_post_data(ApiRequest *q, const void *data, size_t size);
void envd_files_compose(ApiRequest *q);
