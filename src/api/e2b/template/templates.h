/* templates.h: what the files about templates, volumes and secrets of this dialect share.
 *
 * A template of E2B's is a name with tags; each tag is a build. Ours is a name and tag that point at an image: the names are the same, its "default" is the tag of that name, or
 * "latest" where only that is there. Its id is derived from whose it is and what it is called, so that it is the same for ever and kept nowhere. Which build a tag came
 * from, and what sandboxes of it shall have, is in the book of builds (build/book.h); of a template that was made otherwise, the id of its "build" is derived from its digest.
 *
 *      templates-find.c     names, ids, which there is          templates-build.c    asked for, begun
 *      templates.c          list, one, removed                  templates-status.c   how it gets on, its log
 *      templates-tags.c     tags and aliases                    templates-files.c    files that come along
 *
 * Must not know: how templates are built, how the native surface looks. */
#pragma once

#include "api/e2b/e2b.h"
#include "api/e2b/template/uploads.h"
#include "build/book.h"
#include "image/names.h"

#define E2B_DEFAULT_TAG     "default"
#define E2B_TEMPLATE_ID_MAX 21 /* 20 of [a-z0-9], and a NUL */
#define E2B_SIGNATURE_SIZE  49

/* Of the caller. */
const char *e2b_own_tenant(const ApiRequest *q); /* "": nobody's */
const char *e2b_team(const ApiRequest *q);       /* what stands before the slash in names of his */

/* sign.c: 48 digits that only this daemon can make; kind keeps apart what is signed for different things. */
void e2b_sign(const Api *api, const char *kind, const char *text, char ret[static E2B_SIGNATURE_SIZE]);

/* [team/]name[:tag], in any case. tag is "default" where none was said. -EINVAL. */
typedef struct E2bName {
        TemplateName name;
        bool tagged;
} E2bName;
int e2b_name_parse(const char *text, const char *team, E2bName *ret, Error *reterr);
/* Lower-cased into ret; -EINVAL: no tag, or one that could be a build's id. */
int e2b_tag_parse(const char *text, char ret[static TEMPLATE_TAG_MAX + 1], Error *reterr);
bool e2b_is_uuid(const char *text);

/* A template that there is, or that is being built for the first time. */
typedef struct E2bFound {
        char tenant[ACCESS_NAME_MAX + 1]; /* "": everybody's */
        char name[TEMPLATE_NAME_MAX + 1];
        char tag[TEMPLATE_TAG_MAX + 1];   /* that was asked for */
        bool tagged;
        bool spawners; /* the daemon was started with it */
        bool own;      /* and may be changed */
} E2bFound;
void e2b_template_id(const char *tenant, const char *name, char ret[static E2B_TEMPLATE_ID_MAX]);
/* By name or id. -ENOENT, -EINVAL: nothing was answered. */
int e2b_template_look(ApiRequest *q, const char *text, E2bFound *ret, Error *reterr);
/* The same; has answered when it is negative. own: 403 for everybody's. */
int e2b_template_need(ApiRequest *q, const char *text, bool own, E2bFound *ret);

/* One tag of it: its digest and time; "default" is "latest" where only that is there. 1; 0: there is none. */
typedef struct E2bTag {
        char tag[TEMPLATE_TAG_MAX + 1];
        char digest[DIGEST_LENGTH + 1];
        usec_t updated_at;
} E2bTag;
int e2b_template_tag(ApiRequest *q, const E2bFound *t, const char *tag, E2bTag *ret);
/* The id of the build that a digest came from. */
void e2b_build_of(ApiRequest *q, const E2bFound *t, const char *digest, char ret[static BUILD_ID_LENGTH + 1]);
BuildRecord *e2b_build_need(ApiRequest *q); /* by both parameters of the path; NULL: answered */
const BuildRecord *e2b_record_of(ApiRequest *q, const E2bFound *t, const char *digest); /* NULL: it was not made by this dialect */

/* NULL: answered: 501. */
Images *e2b_images(ApiRequest *q);
Builds *e2b_builds(ApiRequest *q);

/* surface.c: what it has of its own. */
E2bUploads *e2b_uploads_of(const Api *api);

/* templates-files.c */
int e2b_upload_open(ApiRequest *q, const char *hash); /* a descriptor; -ENOENT: it did not come */
void e2b_upload_link(ApiRequest *q);
int e2b_upload_identify(ApiRequest *q); /* ApiRoute.identify: by the link */
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
