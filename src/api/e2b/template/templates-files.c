/* templates-files.c: files that come along with a build: a link to send them to, and where they are kept until they are needed.
 *
 * Kept below the state directory under a name made of whose they are and the sender's hash, so that nobody gets another's. What was not used for a week goes, and the
 * oldest go when all together are too much: whoever needs them sends them again, for the link says that they are not there. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "api/e2b/template/templates.h"
#include "base/directory.h"
#include "base/fd.h"
#include "base/parse.h"
#include "build/steps.h"
#include "config/config.h"
#include "core/secret.h"

#define DIRECTORY   "uploads"
#define LINK_LIFE   3600           /* seconds */
#define KEPT_SECS   (7 * 24 * 3600)
#define KEPT_FILES  1000
#define KEPT_FACTOR 4              /* times what one build may send */
#define NAME_LENGTH 64
#define SIGNED      "e2b-upload"

static int templates_files_open_directory(ApiRequest *q) {
        _cleanup_free_ char *path = NULL;
        int fd;

        if (asprintf(&path, "%s/" DIRECTORY, q->manager->config.state_dir) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return -errno;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

static void templates_files_name_of(const char *tenant, const char *hash, char ret[static NAME_LENGTH + 1]) {
        char text[ACCESS_NAME_MAX + STEPS_HASH + 2];
        uint8_t sum[SECRET_SHA256_SIZE];

        (void) snprintf(text, sizeof(text), "%.*s\n%.*s", ACCESS_NAME_MAX, tenant, STEPS_HASH, hash);
        secret_sha256(text, strlen(text), sum);
        secret_hex(sum, sizeof(sum), ret);
}

int e2b_upload_open(ApiRequest *q, const char *hash) {
        _cleanup_close_ int directory = templates_files_open_directory(q);
        char name[NAME_LENGTH + 1];
        int fd;

        if (directory < 0)
                return directory;
        templates_files_name_of(e2b_own_tenant(q), hash, name);
        fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        (void) utimensat(directory, name, /* times= */ NULL, AT_SYMLINK_NOFOLLOW); /* it is of use */
        return fd;
}

/* What is there, the oldest first. */

typedef struct TemplatesFilesKept {
        char name[NAME_LENGTH + 1];
        time_t at;
        uint64_t bytes;
} TemplatesFilesKept;

static int compare_kept(const void *a, const void *b) {
        const TemplatesFilesKept *x = a, *y = b;

        return x->at < y->at ? -1 : x->at > y->at;
}

static size_t list_kept(int directory, TemplatesFilesKept *ret, size_t max) {
        _cleanup_directory_ DIR *d = directory_open(directory, ".");
        const struct dirent *e;
        size_t n = 0;

        while ((e = directory_next(d))) {
                struct stat st;

                if (strlen(e->d_name) != NAME_LENGTH || fstatat(directory, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if (n == max) {
                        (void) unlinkat(directory, e->d_name, 0);
                        continue;
                }
                memcpy(ret[n].name, e->d_name, sizeof(ret[n].name));
                ret[n].at = st.st_mtime;
                ret[n++].bytes = (uint64_t) st.st_size;
        }
        qsort(ret, n, sizeof(*ret), compare_kept);
        return n;
}

/* Until there is room for so many bytes more. */
static void templates_files_sweep(int directory, uint64_t bytes, uint64_t bytes_max) {
        TemplatesFilesKept *list = calloc(KEPT_FILES, sizeof(*list));
        const time_t old = time(NULL) - KEPT_SECS;
        uint64_t sum = bytes;
        size_t n;

        if (!list)
                return;
        n = list_kept(directory, list, KEPT_FILES);
        for (size_t i = 0; i < n; i++)
                sum += list[i].bytes;
        for (size_t i = 0; i < n && (list[i].at < old || sum > bytes_max || n - i >= KEPT_FILES); i++)
                if (unlinkat(directory, list[i].name, 0) >= 0)
                        sum -= list[i].bytes;
        free(list);
}

/* GET /templates/{id}/files/{hash}: the link says whose, which and until when; nothing else may be sent by it. */

static void sign_link(ApiRequest *q, const char *tenant, const char *hash, uint64_t expires, char ret[static E2B_SIGNATURE_SIZE]) {
        char text[ACCESS_NAME_MAX + STEPS_HASH + 32];

        (void) snprintf(text, sizeof(text), "%.*s\n%.*s\n%llu", ACCESS_NAME_MAX, tenant, STEPS_HASH, hash, (unsigned long long) expires);
        e2b_sign(q->api, SIGNED, text, ret);
}

void e2b_upload_link(ApiRequest *q) {
        const char *hash = q->parameters[1], *host = http_header(q->http, "Host"), *tenant = e2b_own_tenant(q);
        const uint64_t expires = (uint64_t) time(NULL) + LINK_LIFE;
        char signature[E2B_SIGNATURE_SIZE];
        _cleanup_close_ int there = -EBADF;
        E2bFound t;

        if (e2b_template_need(q, q->parameters[0], /* own= */ true, &t) < 0)
                return;
        if (!steps_hash_is_valid(hash)) {
                (void) e2b_error(q, 400, "'%.80s' is no hash: %d hexadecimal digits", hash, STEPS_HASH);
                return;
        }
        there = e2b_upload_open(q, hash);
        sign_link(q, tenant, hash, expires, signature);
        (void) api_answer(q, 201, json_pack("{s:b, s:o}", "present", there >= 0,
                        "url", json_sprintf("%s://%s/templates/upload/%s?team=%s&expires=%llu&signature=%s", http_is_secure(q->http) ? "https" : "http",
                                        host ? host : "localhost", hash, tenant, (unsigned long long) expires, signature)));
}

/* PUT /templates/upload/{hash} */

typedef struct TemplatesFilesUpload {
        int fd;
        uint64_t size, max;
        char name[NAME_LENGTH + 1];
        char tenant[ACCESS_NAME_MAX + 1];
        struct TemplatesFilesUpload *prev, *next;
} TemplatesFilesUpload;

static TemplatesFilesUpload *arriving; /* nothing of these is in the directory yet, and all of it is on the disk */

/* All at once have no more room than what is kept, and a team's no more than one build. */
static bool is_room(const TemplatesFilesUpload *u, size_t more) {
        uint64_t all = more, own = more;
        const TemplatesFilesUpload *other;

        DL_FOREACH(arriving, other) {
                all += other->size;
                own += strcmp(other->tenant, u->tenant) == 0 ? other->size : 0;
        }
        return all <= u->max * KEPT_FACTOR && own <= u->max;
}

static void templates_files_upload_destroy(ApiRequest *q, bool answered) {
        TemplatesFilesUpload *u = q->state;

        DL_DELETE(arriving, u);
        (void) fd_close(u->fd);
}

/* -EPERM: it was not we who made that link. -ESTALE: its time is over. */
static int check_link(ApiRequest *q) {
        const char *tenant = http_query(q->http, "team"), *given = http_query(q->http, "signature"), *until = http_query(q->http, "expires");
        char wanted[E2B_SIGNATURE_SIZE];
        uint64_t expires;

        if (!tenant || !given || !until || strlen(tenant) > ACCESS_NAME_MAX || !steps_hash_is_valid(q->parameters[0]) || parse_uint64(until, 0, INT64_MAX, &expires) < 0)
                return -EPERM;
        sign_link(q, tenant, q->parameters[0], expires, wanted);
        if (!e2b_token_matches(given, wanted))
                return -EPERM;
        return expires < (uint64_t) time(NULL) ? -ESTALE : 0;
}

int e2b_upload_identify(ApiRequest *q) {
        int r = check_link(q);

        if (r < 0)
                return e2b_error(q, 403, r == -ESTALE ? "the link is too old: ask for another" : "the link is not one of ours");
        (void) snprintf(q->tenant, sizeof(q->tenant), "%s", http_query(q->http, "team"));
        q->who = (Principal) { .kind = PRINCIPAL_UPLOAD, .tenant = q->tenant[0] ? q->tenant : NULL };
        (void) snprintf(q->actor, sizeof(q->actor), "upload");
        return 1;
}

void e2b_upload_begin(ApiRequest *q) {
        const uint64_t max = q->manager->settings->build.context_bytes_max;
        _cleanup_close_ int directory = -EBADF;
        const char *tenant = e2b_own_tenant(q);
        TemplatesFilesUpload *u;

        directory = templates_files_open_directory(q);
        if (directory < 0) {
                (void) e2b_errno(q, directory, NULL);
                return;
        }
        u = api_keep_state(q, sizeof(*u), templates_files_upload_destroy);
        if (!u)
                return;
        u->max = max;
        templates_files_name_of(tenant, q->parameters[0], u->name);
        (void) snprintf(u->tenant, sizeof(u->tenant), "%s", tenant);
        DL_APPEND(arriving, u);
        u->fd = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (u->fd < 0)
                (void) e2b_error(q, 500, "cannot keep what comes: %s", strerror(errno));
}

static void upload_end(ApiRequest *q, TemplatesFilesUpload *u) {
        _cleanup_close_ int directory = templates_files_open_directory(q);
        char self[64];
        int r = directory < 0 ? directory : 0;

        if (r >= 0) {
                templates_files_sweep(directory, u->size, u->max * KEPT_FACTOR);
                (void) snprintf(self, sizeof(self), "/proc/self/fd/%d", u->fd);
                (void) unlinkat(directory, u->name, 0);
                if (linkat(AT_FDCWD, self, directory, u->name, AT_SYMLINK_FOLLOW) < 0)
                        r = -errno;
        }
        u->fd = fd_close(u->fd);
        u->size = 0; /* counted there from now on */
        if (r < 0)
                (void) e2b_errno(q, r, "cannot keep what came");
        else
                (void) e2b_empty(q, 200);
}

ssize_t e2b_upload_data(ApiRequest *q, const void *data, size_t size) {
        TemplatesFilesUpload *u = q->state;
        int r;

        if (q->answered || !u || u->fd < 0)
                return -ECANCELED;
        if (size == 0) {
                upload_end(q, u);
                return 0;
        }
        if (u->size + size > u->max)
                return e2b_error(q, 413, "the files have more than %llu bytes (build.maxContext of cove.yaml)", (unsigned long long) u->max);
        if (!is_room(u, size)) {
                (void) http_add_header(q->http, "Retry-After", "5");
                return e2b_error(q, 503, "files of other builds are on their way, which have all the room there is: send it again when they are through");
        }
        u->size += size;
        r = fd_write_all(u->fd, data, size);
        if (r < 0)
                return e2b_errno(q, r, r == -ENOSPC ? "there is no room for what comes" : "cannot keep what comes");
        return (ssize_t) size;
}
