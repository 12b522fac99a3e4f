/* charge.c: charges templates to tenants by the rule in core/ledger.h: layers and disks to the templates that
 * use them, blobs to the tenant that has fetched them. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/directory.h"
#include "image/internal.h"

/* Templates. */

static bool charge_takes(const char **payer, const char *tenant) {
        if (*payer && (!**payer || strcmp(*payer, tenant) == 0))
                return false;
        *payer = tenant;
        return true;
}

/* Bytes of the image that are charged to the tenant: those not charged yet to the tenant itself, or as
 * common to all. */
static uint64_t charge_image(Images *i, const Image *image, const char *tenant) {
        ImageEntry *e = images_entry(i, image->digest);
        uint64_t bytes = 0;
        LayerEntry *l;

        if (!*image->layer)
                return !e || charge_takes(&e->payer, tenant) ? image->bytes : 0;
        for (const char *chain = image->layer; *chain; chain = l->row.parent) {
                HASH_FIND_STR(i->layers, chain, l);
                if (!l)
                        break;
                bytes += charge_takes(&l->payer, tenant) ? l->row.bytes : 0;
        }
        return bytes;
}

static int charge_compare(const void *a, const void *b) {
        const TemplateEntry *const *x = a, *const *y = b;

        return strcmp((*x)->row.tenant, (*y)->row.tenant);
}

/* Resets all payers, and lists the common templates first, then those of each tenant. NULL: out of
 * memory. */
static TemplateEntry **charge_begin(Images *i, size_t *ret_n) {
        TemplateEntry **list = calloc(HASH_COUNT(i->templates) + 1, sizeof(*list));
        size_t n = 0;

        for (TemplateEntry *t = i->templates; list && t; t = t->hh.next)
                list[n++] = t;
        for (LayerEntry *l = i->layers; l; l = l->hh.next)
                l->payer = NULL;
        for (ImageEntry *e = i->images; e; e = e->hh.next)
                e->payer = NULL;
        if (list)
                qsort(list, n, sizeof(*list), charge_compare);
        *ret_n = n;
        return list;
}

void templates_charge(Images *i) {
        size_t n;
        _cleanup_free_ TemplateEntry **list = charge_begin(i, &n);

        for (size_t k = 0; list && k < n; k++) /* without memory, the charges stay as they are for now */
                (void) ledger_charge(i->manager, &list[k]->charge, list[k]->row.tenant, LEDGER_TEMPLATE, charge_image(i, &list[k]->image->image, list[k]->row.tenant));
}

int template_reserve(Images *i, const char *tenant, const Image *image, LedgerEntry *ret, Error *reterr) {
        size_t n;
        _cleanup_free_ TemplateEntry **list = charge_begin(i, &n);

        if (!list)
                return error_set(reterr, -ENOMEM, "out of memory");
        for (size_t k = 0; k < n; k++)
                if (!*list[k]->row.tenant || strcmp(list[k]->row.tenant, tenant) == 0)
                        (void) charge_image(i, &list[k]->image->image, list[k]->row.tenant);
        return ledger_reserve(i->manager, ret, tenant, LEDGER_TEMPLATE, charge_image(i, image, tenant), reterr);
}

/* Blobs. */

struct BlobsOf {
        LedgerEntry charge;
        UT_hash_handle hh;
        char tenant[ACCESS_NAME_MAX + 1];
};

static uint64_t charge_count_blobs(DIR *dir) {
        const struct dirent *de;
        uint64_t bytes = 0;
        struct stat st;

        while ((de = directory_next(dir)))
                if (fstatat(dirfd(dir), de->d_name, &st, AT_SYMLINK_NOFOLLOW) >= 0 && S_ISREG(st.st_mode))
                        bytes += (uint64_t) st.st_blocks * 512;
        return bytes;
}

void blobs_charge(Images *i, const char *tenant) {
        char path[sizeof(BLOBS_OF) + ACCESS_NAME_MAX];
        _cleanup_directory_ DIR *dir = NULL;
        BlobsOf *b;

        if (!*tenant || i->blobs_fd < 0)
                return;
        (void) snprintf(path, sizeof(path), BLOBS_OF "%.*s", ACCESS_NAME_MAX, tenant);
        dir = directory_open_nofollow(i->blobs_fd, path);
        HASH_FIND_STR(i->blobs_of, tenant, b);
        if (!b && !dir)
                return;
        if (!b) {
                b = calloc(1, sizeof(*b));
                if (!b)
                        return;
                (void) snprintf(b->tenant, sizeof(b->tenant), "%s", tenant);
                HASH_ADD_STR(i->blobs_of, tenant, b);
        }
        (void) ledger_charge(i->manager, &b->charge, b->tenant, LEDGER_TEMPLATE, dir ? charge_count_blobs(dir) : 0);
        if (!dir) {
                HASH_DEL(i->blobs_of, b);
                ledger_release(&b->charge);
                free(b);
        }
}

void blobs_charge_all(Images *i) {
        _cleanup_directory_ DIR *dir = directory_open(i->blobs_fd, ".");
        BlobsOf *b, *next;
        const struct dirent *de;

        HASH_ITER(hh, i->blobs_of, b, next)
                blobs_charge(i, b->tenant);
        while ((de = directory_next(dir)))
                if (strncmp(de->d_name, BLOBS_OF, strlen(BLOBS_OF)) == 0)
                        blobs_charge(i, de->d_name + strlen(BLOBS_OF));
}

void blobs_of_free(Images *i) {
        BlobsOf *b, *next;

        HASH_ITER(hh, i->blobs_of, b, next) {
                HASH_DEL(i->blobs_of, b);
                ledger_release(&b->charge);
                free(b);
        }
}
