/* book.c: build records: creation, start and results. */

#include "build/book.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "build/internal.h"
#include "core/secret.h"
#include "build/rows.h"

#define INTERRUPTED "interrupted by a restart of the daemon; build it again: what was done is in the cache"

static BuildRecord *record_free(BuildRecord *k) {
        making_unwatch(&k->watch);
        if (k->builds)
                HASH_DEL(k->builds->records, k);
        store_build_done(k);
        free(k->lines);
        free(k);
        return NULL;
}

static void book_drop(BuildRecord *k) {
        store_may_lose(store_build_delete(k->builds->manager->store, k->id), "that a build is forgotten");
        (void) record_free(k);
}

static void book_put(BuildRecord *k) {
        if (store_build_put(k->builds->manager->store, k) < 0)
                log_warning("what became of build %s cannot be written down", k->id);
}

/* A random UUID (version 4). */
static void book_make_id(char ret[static BUILD_ID_LENGTH + 1]) {
        char hex[33];

        secret_random_hex(hex, 32);
        (void) snprintf(ret, BUILD_ID_LENGTH + 1, "%.8s-%.4s-4%.3s-%c%.3s-%.12s", hex, hex + 8, hex + 13, "89ab"[(hex[16] < 'a' ? hex[16] - '0' : hex[16] - 'a' + 10) % 4],
                        hex + 17, hex + 20);
}

static unsigned book_count(const Builds *b, const char *tenant) {
        const BuildRecord *k, *next;
        unsigned n = 0;

        HASH_ITER(hh, b->records, k, next)
                n += strcmp(k->tenant, tenant) == 0;
        return n;
}

/* Removes the oldest ended records of this tenant only. */
static int book_make_room(Builds *b, const char *tenant, Error *reterr) {
        unsigned n = book_count(b, tenant);
        BuildRecord *k, *next;

        HASH_ITER(hh, b->records, k, next) {
                if (n < BUILD_RECORDS_MAX)
                        return 0;
                if (k->status != BUILD_RUNNING && strcmp(k->tenant, tenant) == 0) {
                        book_drop(k);
                        n--;
                }
        }
        return n < BUILD_RECORDS_MAX ? 0 : error_set(reterr, -EDQUOT, "%d builds are under way, and there may not be more", BUILD_RECORDS_MAX);
}

static int book_fill(BuildRecord *k, const char *tenant, const char *name, const Strv *tags) {
        int r;

        k->tags.max = BUILD_TAGS_MAX;
        r = strv_extend(&k->tags, tags);
        if (r < 0)
                return r;
        k->tenant = strdup(tenant ? tenant : "");
        k->name = strdup(name);
        return k->tenant && k->name ? 0 : -ENOMEM;
}

int build_record_new(Builds *b, const char *tenant, const char *name, const Strv *tags, uint32_t cpu_milli, uint64_t memory_bytes, BuildRecord **ret, Error *reterr) {
        BuildRecord *k;
        int r = book_make_room(b, tenant ? tenant : "", reterr);

        if (r < 0)
                return r;
        k = calloc(1, sizeof(*k));
        if (!k)
                return error_set(reterr, -ENOMEM, "out of memory");
        *k = (BuildRecord) { .status = BUILD_WAITING, .cpu_milli = cpu_milli, .memory_bytes = memory_bytes, .created_at = clock_wall_usec() };
        book_make_id(k->id);
        r = book_fill(k, tenant, name, tags);
        if (r >= 0)
                r = store_build_put(b->manager->store, k);
        if (r < 0) {
                (void) record_free(k);
                return error_set(reterr, r, "the build cannot be saved: %s", r == -E2BIG ? "too many tags" : strerror(-r));
        }
        k->builds = b;
        HASH_ADD_STR(b->records, id, k);
        *ret = k;
        return 0;
}

/* The making has set the first tag. This sets the others. */
static void set_tags(BuildRecord *k) {
        for (size_t i = 1; i < k->tags.n; i++) {
                _cleanup_free_ char *full = NULL;
                Error error = { 0 };

                if (asprintf(&full, "%s:%s", k->name, k->tags.items[i]) < 0) {
                        full = NULL;
                        continue;
                }
                if (images_tag(k->builds->images, k->tenant, full, k->digest, &error) < 0)
                        log_warning("build %s: %s", k->id, error.text);
        }
}

static void book_on_end(BuildRecord *k, const MakingInfo *info) {
        k->status = info->status == MAKING_DONE ? BUILD_READY : BUILD_FAILED;
        k->ended_at = info->ended_at;
        if (k->status == BUILD_READY && info->digest) {
                (void) snprintf(k->digest, sizeof(k->digest), "%s", info->digest);
                set_tags(k);
        } else {
                free(k->error);
                k->error = strdup(info->error ? info->error : "failed");
        }
        book_put(k);
}

int build_record_start(BuildRecord *k, const Principal *who, BuildRequest *request, Error *reterr) {
        Making *making;
        int r;

        if (k->status != BUILD_WAITING)
                return error_set(reterr, -EALREADY, "build %s has begun already", k->id);
        free(request->name);
        if (asprintf(&request->name, "%s:%s", k->name, k->tags.items[0]) < 0) {
                request->name = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        r = build_start(k->builds, who, request, &making, reterr);
        if (r < 0)
                return r;
        k->status = BUILD_RUNNING;
        (void) snprintf(k->making, sizeof(k->making), "%s", making_id(making));
        k->watch = (MakingWatch) { .changed = build_record_changed, .userdata = k };
        making_watch(making, &k->watch);
        book_put(k);
        return 0;
}

/* Called from within the making's own calls: it must not free anything of the making. */
void build_record_changed(Making *making, void *userdata) {
        BuildRecord *k = userdata;
        MakingInfo info;

        making_info(making, &info);
        build_record_scan(k, making, &info, clock_wall_usec());
        if (info.status == MAKING_RUNNING)
                return;
        making_unwatch(&k->watch);
        book_on_end(k, &info);
}

/* Finding. */

BuildRecord *build_record_find(Builds *b, const char *id) {
        BuildRecord *k;

        HASH_FIND_STR(b->records, id, k);
        return k;
}

static bool is_meant(const BuildRecord *k, const char *tenant, const char *name) {
        return (!tenant || strcmp(k->tenant, tenant) == 0) && (!name || strcmp(k->name, name) == 0);
}

static BuildRecord *last_of(Builds *b) {
        return b->records ? ELMT_FROM_HH(b->records->hh.tbl, b->records->hh.tbl->tail) : NULL;
}

int build_records_each(Builds *b, const char *tenant, const char *name, int (*each)(BuildRecord *record, void *userdata), void *userdata) {
        int r = 0;

        for (BuildRecord *k = last_of(b), *before; k && r >= 0; k = before) {
                before = k->hh.prev;
                if (is_meant(k, tenant, name))
                        r = each(k, userdata);
        }
        return r;
}

const BuildRecord *build_record_of(Builds *b, const char *tenant, const char *name, const char *digest) {
        for (BuildRecord *k = last_of(b); k; k = k->hh.prev)
                if (k->status == BUILD_READY && is_meant(k, tenant, name) && strcmp(k->digest, digest) == 0)
                        return k;
        return NULL;
}

void build_records_forget(Builds *b, const char *tenant, const char *name) {
        BuildRecord *k, *next;

        HASH_ITER(hh, b->records, k, next) {
                Making *making;

                if (!is_meant(k, tenant, name))
                        continue;
                making = k->status == BUILD_RUNNING ? making_find(b->images, &principal_daemon, k->making) : NULL;
                book_drop(k);
                if (making)
                        making_cancel(making);
        }
}

/* Opening. */

static int book_take_row(BuildRecord *row, void *userdata) {
        Builds *b = userdata;
        BuildRecord *k = malloc(sizeof(*k));

        if (!k)
                return -ENOMEM;
        *k = *row;
        *row = (BuildRecord) { 0 };
        k->builds = b;
        HASH_ADD_STR(b->records, id, k);
        return 0;
}

int build_book_open(Builds *b, Error *reterr) {
        BuildRecord *k, *next;
        int r = store_build_each(b->manager->store, book_take_row, b);

        if (r < 0)
                return error_set(reterr, r, "cannot read which builds there were: %s", strerror(-r));
        HASH_ITER(hh, b->records, k, next)
                if (k->status == BUILD_RUNNING) {
                        k->status = BUILD_FAILED;
                        k->ended_at = clock_wall_usec();
                        k->error = strdup(INTERRUPTED);
                        book_put(k);
                }
        return 0;
}

void build_book_close(Builds *b) {
        BuildRecord *k, *next;

        HASH_ITER(hh, b->records, k, next)
                (void) record_free(k);
}
