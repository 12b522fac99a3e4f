/* templates.h: shared by the files about E2B templates, volumes and secrets.
 *
 * An E2B template is a name with tags, and each tag is a build. Our template is a name and tag that point to
 * an image. The names are the same. E2B's tag "default" is our tag "default", or "latest" if only that
 * exists. The template id is derived from tenant and name, so it never changes and is not stored. The build
 * records (build/book.h) have the build of a tag and the resources of its sandboxes. For a template that was
 * made otherwise, the build id is derived from its digest.
 *
 *      templates-find.c     names, ids, lookup                  templates-build.c    request and start of builds
 *      templates.c          list, get, remove                   templates-status.c   progress and log of builds
 *      templates-tags.c     tags and aliases                    templates-files.c    uploaded files
 *
 * Must not know: how templates are built, the formats of the native surface. */
#pragma once

#include "api/e2b/e2b.h"
#include "api/e2b/template/uploads.h"
#include "build/book.h"
#include "image/names.h"

#define E2B_DEFAULT_TAG     "default"
#define E2B_TEMPLATE_ID_MAX 21 /* 20 characters of [a-z0-9], and a NUL */
#define E2B_SIGNATURE_SIZE  49

/* For the caller. */
const char *e2b_own_tenant(const ApiRequest *q); /* "": no tenant */
const char *e2b_team(const ApiRequest *q);       /* the part of its names before the slash */

/* sign.c: 48 digits that only this daemon can make. `kind` separates the purposes of signatures. */
void e2b_sign(const Api *api, const char *kind, const char *text, char ret[static E2B_SIGNATURE_SIZE]);

/* Parses [team/]name[:tag], in any case. tag is "default" if none is given. -EINVAL. */
typedef struct E2bName {
        TemplateName name;
        bool tagged;
} E2bName;
int e2b_name_parse(const char *text, const char *team, E2bName *ret, Error *reterr);
/* Writes the tag in lower case to ret; -EINVAL: not a tag, or one that could be a build's id. */
int e2b_tag_parse(const char *text, char ret[static TEMPLATE_TAG_MAX + 1], Error *reterr);
bool e2b_is_uuid(const char *text);

/* A template that exists, or is being built for the first time. */
typedef struct E2bFound {
        char tenant[ACCESS_NAME_MAX + 1]; /* "": all tenants */
        char name[TEMPLATE_NAME_MAX + 1];
        char tag[TEMPLATE_TAG_MAX + 1];   /* the requested one */
        bool tagged;
        bool spawners; /* a template that the daemon was started with */
        bool own;      /* the caller may change it */
} E2bFound;
void e2b_template_id(const char *tenant, const char *name, char ret[static E2B_TEMPLATE_ID_MAX]);
/* By name or id. -ENOENT, -EINVAL: not answered yet. */
int e2b_template_look(ApiRequest *q, const char *text, E2bFound *ret, Error *reterr);
/* The same, but answers on failure. own: 403 for a template of all tenants. */
int e2b_template_need(ApiRequest *q, const char *text, bool own, E2bFound *ret);

/* One tag of a template, with digest and time. "default" means "latest" if only that exists. Returns 1; 0: no
 * such tag. */
typedef struct E2bTag {
        char tag[TEMPLATE_TAG_MAX + 1];
        char digest[DIGEST_LENGTH + 1];
        usec_t updated_at;
} E2bTag;
int e2b_template_tag(ApiRequest *q, const E2bFound *t, const char *tag, E2bTag *ret);
/* The id of the build that made a digest. */
void e2b_build_of(ApiRequest *q, const E2bFound *t, const char *digest, char ret[static BUILD_ID_LENGTH + 1]);
BuildRecord *e2b_build_need(ApiRequest *q); /* by both parameters of the path; NULL: answered */
/* NULL: not built through this API. */
const BuildRecord *e2b_record_of(ApiRequest *q, const E2bFound *t, const char *digest);

/* NULL: answered with 501. */
Images *e2b_images(ApiRequest *q);
Builds *e2b_builds(ApiRequest *q);

/* surface.c: state of the surface. */
E2bUploads *e2b_uploads_of(const Api *api);

/* templates-files.c */
int e2b_upload_open(ApiRequest *q, const char *hash); /* returns a descriptor; -ENOENT: not uploaded */
void e2b_upload_link(ApiRequest *q);
int e2b_upload_identify(ApiRequest *q); /* ApiRoute.identify: by the signed link */
void e2b_upload_begin(ApiRequest *q);
ssize_t e2b_upload_data(ApiRequest *q, const void *data, size_t size);

/* Handlers. */
void e2b_secret_list(ApiRequest *q);
void e2b_secret_create(ApiRequest *q);
void e2b_secret_get(ApiRequest *q);
void e2b_secret_update(ApiRequest *q);
void e2b_secret_delete(ApiRequest *q);
void e2b_team_list(ApiRequest *q);
void e2b_team_metrics(ApiRequest *q);
void e2b_team_metrics_max(ApiRequest *q);
void e2b_key_list(ApiRequest *q);
void e2b_key_create(ApiRequest *q);
void e2b_key_rename(ApiRequest *q);
void e2b_key_delete(ApiRequest *q);
void e2b_access_token_create(ApiRequest *q);
void e2b_health(ApiRequest *q);
void e2b_template_list(ApiRequest *q);
void e2b_template_get(ApiRequest *q);
void e2b_template_patch(ApiRequest *q);
void e2b_template_delete(ApiRequest *q);
void e2b_template_request(ApiRequest *q);
void e2b_template_request_docker(ApiRequest *q);
void e2b_template_start(ApiRequest *q);
void e2b_template_status(ApiRequest *q);
void e2b_template_logs(ApiRequest *q);
void e2b_template_alias(ApiRequest *q);
void e2b_tags_assign(ApiRequest *q);
void e2b_tags_remove(ApiRequest *q);
void e2b_tags_list(ApiRequest *q);
