#include "image/image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/program.h"
#include "base/word.h"
#include "core/quarantine.h"
#include "image/internal.h"

/* Finding. */

ImageEntry *images_entry(Images *i, const char *digest) {
        ImageEntry *e;

        HASH_FIND_STR(i->images, digest, e);
        return e;
}

LayerEntry *images_layer(Images *i, const char *chain) {
        LayerEntry *l;

        HASH_FIND_STR(i->layers, chain, l);
        return l && !l->row.removing ? l : NULL;
}

bool images_is_reserved(const Images *i, const char *name) {
        const Strv *list = i->manager->config.templates;
        size_t n = strlen(name);

        if (template_builtin(name))
                return true;
        for (size_t k = 0; list && k < list->n; k++)
                if (strncmp(list->items[k], name, n) == 0 && list->items[k][n] == '=')
                        return true;
        return false;
}

static bool is_seen_by(const TemplateEntry *t, const char *tenant) {
        return !*t->row.tenant || strcmp(t->row.tenant, tenant) == 0;
}

static TemplateEntry *find_key(Images *i, const char *tenant, const TemplateName *name) {
        char key[ACCESS_NAME_MAX + TEMPLATE_NAME_MAX + TEMPLATE_TAG_MAX + 4];
        TemplateEntry *t;

        (void) snprintf(key, sizeof(key), "%.63s\n%s:%s", tenant, name->name, name->tag);
        HASH_FIND_STR(i->templates, key, t);
        return t;
}

/* The caller's own templates come before the common ones. */
static TemplateEntry *images_find_name(Images *i, const char *tenant, const char *text) {
        TemplateName name;
        TemplateEntry *t = NULL;

        if (template_name_parse(text, &name, /* reterr= */ NULL) < 0)
                return NULL;
        if (*tenant)
                t = find_key(i, tenant, &name);
        return t ? t : find_key(i, "", &name);
}

/* Finds a template by the beginning of its digest. -EEXIST: several match. */
static int find_digest(Images *i, const char *tenant, const char *text, TemplateEntry **ret) {
        const char *hex = image_digest_short(text);
        TemplateEntry *t, *found = NULL;

        for (t = hex ? i->templates : NULL; t; t = t->hh.next) {
                if (!is_seen_by(t, tenant) || strncmp(t->row.digest + strlen(DIGEST_PREFIX), hex, strlen(hex)) != 0)
                        continue;
                if (found && found->image != t->image)
                        return -EEXIST;
                if (!found || *t->row.tenant)
                        found = t;
        }
        *ret = found;
        return found ? 0 : -ENOENT;
}

static TemplateEntry *find_any(Images *i, const char *tenant, const char *text) {
        TemplateEntry *t = images_find_name(i, tenant ? tenant : "", text);

        if (!t)
                (void) find_digest(i, tenant ? tenant : "", text, &t);
        return t;
}

const Image *images_find(Images *i, const char *tenant, const char *name) {
        TemplateEntry *t = find_any(i, tenant, name);

        return t ? &t->image->image : NULL;
}

static int images_refuse_unknown(Images *i, const char *tenant, const char *text, Error *reterr) {
        unsigned best = word_tolerance(text);
        bool built_in = strcmp(text, "base") == 0 || strcmp(text, "host") == 0;
        char nearest[TEMPLATE_NAME_MAX + TEMPLATE_TAG_MAX + 2] = "", full[sizeof(nearest)];

        for (const TemplateEntry *t = i->templates; t; t = t->hh.next) {
                if (!is_seen_by(t, tenant))
                        continue;
                (void) snprintf(full, sizeof(full), "%s:%s", t->row.name, t->row.tag);
                if (word_is_nearer(text, t->row.name, &best) || word_is_nearer(text, full, &best) || (!*nearest && strcmp(t->row.name, text) == 0))
                        (void) snprintf(nearest, sizeof(nearest), "%s", full);
        }
        if (built_in)
                return error_set(reterr, -ENOENT, "'%s' is the host's files: sandboxes and builds can start from it, but it is not stored and has no layers", text);
        if (*nearest)
                return error_set(reterr, -ENOENT, "there is no template '%.100s'; did you mean '%s'?", text, nearest);
        return error_set(reterr, -ENOENT, "there is no template '%.100s': `cove template ls` shows those there are, `cove template pull %.100s` may get it", text,
                        text);
}

const char *images_problem(Images *i, const Image *image) {
        if (*image->layer && !images_layer(i, image->layer))
                return "its layer is missing: pull, import or build it again";
        if (image->snapshot) {
                ImageSnapshotEntry *e;

                HASH_FIND_STR(i->snapshots, image->snapshot, e);
                if (!e || e->row.removing)
                        return "its disk is missing: build or commit it again";
        }
        return NULL;
}

static void fill_info(Images *i, const TemplateEntry *t, TemplateInfo *ret) {
        const Image *image = &t->image->image;
        const char *chain = image->layer;

        *ret = (TemplateInfo) {
                .tenant = t->row.tenant,
                .name = t->row.name,
                .tag = t->row.tag,
                .updated_at = t->row.updated_at,
                .image = image,
                .bytes = *chain ? 0 : image->bytes,
                .problem = images_problem(i, image),
        };
        for (LayerEntry *l = NULL; *chain; chain = l->row.parent) {
                HASH_FIND_STR(i->layers, chain, l);
                if (!l)
                        break;
                ret->bytes += l->row.bytes;
                if (l->n_images > 1)
                        ret->shared_bytes += l->row.bytes;
        }
}

static int compare_templates(const void *a, const void *b) {
        const TemplateEntry *const *x = a, *const *y = b;
        int r = strcmp((*x)->row.name, (*y)->row.name);

        if (r == 0)
                r = strcmp((*x)->row.tag, (*y)->row.tag);
        return r != 0 ? r : strcmp((*x)->row.tenant, (*y)->row.tenant);
}

int images_each(Images *i, const char *tenant, int (*each)(const TemplateInfo *info, void *userdata), void *userdata) {
        _cleanup_free_ TemplateEntry **list = NULL;
        size_t n = 0, all = HASH_COUNT(i->templates);
        TemplateInfo info;
        int r = 0;

        list = calloc(all + 1, sizeof(*list));
        if (!list)
                return -ENOMEM;
        for (TemplateEntry *t = i->templates; t; t = t->hh.next)
                if (!tenant || is_seen_by(t, tenant))
                        list[n++] = t;
        qsort(list, n, sizeof(*list), compare_templates);
        for (size_t k = 0; k < n && r >= 0; k++) {
                fill_info(i, list[k], &info);
                r = each(&info, userdata);
        }
        return r;
}

static int find_told(Images *i, const char *tenant, const char *text, TemplateEntry **ret, Error *reterr) {
        TemplateName name;
        TemplateEntry *t = images_find_name(i, tenant, text);
        int r;

        if (t) {
                *ret = t;
                return 0;
        }
        r = find_digest(i, tenant, text, ret);
        if (r == -EEXIST)
                return error_set(reterr, r, "'%.80s' matches several digests: give more digits", text);
        if (r >= 0)
                return 0;
        if (!image_digest_short(text)) {
                r = template_name_parse(text, &name, reterr);
                if (r < 0)
                        return r;
        }
        return images_refuse_unknown(i, tenant, text, reterr);
}

int images_get_info(Images *i, const char *tenant, const char *name, TemplateInfo *ret, Error *reterr) {
        TemplateEntry *t;
        int r = find_told(i, tenant ? tenant : "", name, &t, reterr);

        if (r >= 0)
                fill_info(i, t, ret);
        return r;
}

int images_remove(Images *i, const char *tenant, const char *name, Error *reterr) {
        TemplateEntry *t;
        int r = find_told(i, tenant ? tenant : "", name, &t, reterr);

        if (r < 0)
                return r;
        if (strcmp(t->row.tenant, tenant ? tenant : "") != 0)
                return error_set(reterr, -EPERM, "template '%s:%s' is shared by all tenants: only an admin may remove it", t->row.name, t->row.tag);
        r = store_template_delete(i->manager->store, &t->row);
        if (r < 0)
                return error_set(reterr, r, "cannot remove template '%.100s': %s", name, strerror(-r));
        template_entry_free(i, t);
        templates_charge(i);
        return 0;
}

/* For the core: the view of the template, or the reason why it cannot be used. */
static int keeper_find(const char *tenant, const char *name, TemplateView *ret, Error *reterr, void *userdata) {
        Images *i = userdata;
        TemplateEntry *t;
        const Image *image;
        const char *problem;
        int r = find_told(i, tenant, name, &t, reterr);

        if (r < 0)
                return r;
        image = &t->image->image;
        problem = images_problem(i, image);
        if (problem)
                return error_set(reterr, -EUCLEAN, "template '%s:%s' cannot be used: %s", t->row.name, t->row.tag, problem);
        *ret = (TemplateView) {
                .name = t->row.name,
                .tag = t->row.tag,
                .digest = image->digest,
                .layer = image->layer,
                .base = image->base,
                .snapshot = image->snapshot ? image->snapshot : "",
                .env = image->config.env,
                .workdir = image->config.workdir,
                /* An image without a user means root; a template on the host, the default user. */
                .has_user = *image->layer || (image->config.user && *image->config.user),
                .uid = image->config.uid,
                .gid = image->config.gid,
                .home = image->config.home,
                .start_command = image->config.start_command,
                .ready_command = image->config.ready_command,
        };
        return 1;
}

int images_check_depot(Images *i, Error *reterr) {
        if (trees_have_layers(i->manager))
                return 0;
        (void) trees_have_disks(i->manager, reterr);
        return -EOPNOTSUPP;
}

void images_stats(Images *i, ImagesStats *ret) {
        *ret = (ImagesStats) {
                .templates = HASH_COUNT(i->templates),
                .images = HASH_COUNT(i->images),
                .layers = HASH_COUNT(i->layers),
                .cache = HASH_COUNT(i->cache),
                .makings = i->n_running,
                .blob_bytes = i->blob_bytes,
        };
        for (const LayerEntry *l = i->layers; l; l = l->hh.next)
                ret->layer_bytes += l->row.bytes;
}

void images_observe(Images *i, ImagesObserver observer, void *userdata) {
        i->observer = observer;
        i->observer_data = userdata;
        observer(i, /* ended= */ NULL, userdata);
}

static bool knows_snapshot(const char *name, void *userdata) {
        const Images *i = userdata;

        return store_snapshot_is_owned(i->manager->store, name) != 0;
}

/* A layer without a row was finished just before the daemon ended, unless the operator has restored an older
 * store. */
static bool knows_layer(const char *name, void *userdata) {
        const Images *i = userdata;
        LayerEntry *l;

        HASH_FIND_STR(i->layers, name, l);
        return l || !i->manager->doubts_store;
}

int images_new(Manager *m, Images **ret, Error *reterr) {
        Images *i = calloc(1, sizeof(*i));
        int r;

        if (!i)
                return error_set(reterr, -ENOMEM, "out of memory");
        i->manager = m;
        i->makings_fd = i->blobs_fd = -EBADF;
        (void) program_path("cove-registry", &i->program); /* if missing, pulls, imports and pushes fail */
        r = images_load(i, reterr);
        if (r >= 0)
                r = blobs_open(i, reterr);
        if (r >= 0) {
                blobs_charge_all(i);
                r = makings_load(i, reterr);
        }
        if (r >= 0)
                r = reconciliation_start(i, reterr);
        if (r >= 0)
                r = gc_start(i, reterr);
        if (r < 0) {
                images_free(i);
                return r;
        }
        quarantine_set_keeper(m, TREE_SNAPSHOT, knows_snapshot, i);
        quarantine_set_keeper(m, TREE_LAYER, knows_layer, i);
        i->keeper = (TemplateKeeper) { keeper_find, i };
        manager_set_templates(m, &i->keeper);
        *ret = i;
        return 0;
}

Images *images_free(Images *i) {
        if (!i)
                return NULL;
        if (i->manager->templates == &i->keeper)
                manager_set_templates(i->manager, NULL);
        gc_stop(i);
        makings_free(i);
        reconciliation_stop(i);
        layers_free(i);
        images_unload(i);
        blobs_of_free(i);
        (void) fd_close(i->makings_fd);
        (void) fd_close(i->blobs_fd);
        free(i->blobs_path);
        free(i->program);
        free(i);
        return NULL;
}
