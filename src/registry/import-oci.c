/* import-oci.c: imports an OCI image layout. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "registry/assemble.h"
#include "registry/import.h"

#define INDEX_DEPTH_MAX 3

bool import_same_name(const char *a, const char *b) {
        char x[REFERENCE_TEXT_MAX + 1], y[REFERENCE_TEXT_MAX + 1];
        Reference r, s;

        if (strcmp(a, b) == 0)
                return true;
        if (reference_parse(a, &r, NULL) < 0 || reference_parse(b, &s, NULL) < 0)
                return false;
        return strcmp(reference_print(&r, x), reference_print(&s, y)) == 0;
}

void import_list_name(char *list, size_t room, const char *name) {
        if (!name[0] || strlen(list) + strlen(name) + 8 > room)
                return;
        if (list[0])
                (void) strcat(list, ", ");
        (void) strcat(list, name);
}

static const char *import_oci_name_of(const Descriptor *d) {
        return d->full_name[0] ? d->full_name : d->name;
}

static bool import_oci_is_wanted(const Descriptor *d, const char *wanted) {
        return import_same_name(d->name, wanted) || import_same_name(d->full_name, wanted);
}

/* Keeps only the entries of one name. An archive may have several images, and the same name several times,
 * once per platform. */
static int choose_name(Manifest *index, const char *wanted, Error *reterr) {
        char list[300] = "", name[256];
        size_t kept = 0;

        for (size_t i = 0; i < index->n; i++)
                if (!index->items[i].attestation)
                        import_list_name(list, sizeof(list), import_oci_name_of(index->items + i));
        (void) strcpy(name, import_oci_name_of(index->items));
        for (size_t i = 0; i < index->n; i++) {
                const Descriptor *d = index->items + i;

                if (!d->attestation && (wanted ? import_oci_is_wanted(d, wanted) : strcmp(import_oci_name_of(d), name) == 0))
                        index->items[kept++] = *d;
        }
        if (kept == 0)
                return error_set(reterr, -ENOENT, "the archive has no image '%.150s'; it has: %s", wanted ? wanted : "", list[0] ? list : "some without a name");
        index->n = kept;
        return 0;
}

static int import_oci_choose(const Manifest *index, const Platform *platform, const Descriptor **ret, Error *reterr) {
        bool any = false;

        for (size_t i = 0; i < index->n; i++)
                any |= index->items[i].platform.os[0] != 0;
        if (any)
                return manifest_choose(index, platform, ret, reterr);
        *ret = index->items;
        return 0;
}

static int import_oci_follow(const Contents *a, const Platform *platform, Descriptor *d, Error *reterr) {
        for (unsigned depth = 0; depth < INDEX_DEPTH_MAX; depth++) {
                _cleanup_manifest_ Manifest m = { 0 };
                _cleanup_free_ char *text = NULL;
                const Descriptor *chosen;
                size_t size;
                int r;

                r = blobdir_read(a->blobs, &d->digest, MANIFEST_SIZE_MAX, &text, &size, reterr);
                if (r >= 0)
                        r = manifest_read(text, size, "", &m, reterr);
                if (r < 0 || !m.is_index)
                        return r < 0 ? error_prefix(reterr, r, "the archive") : 0;
                r = import_oci_choose(&m, platform, &chosen, reterr);
                if (r < 0)
                        return r;
                d->digest = chosen->digest;
        }
        return error_set(reterr, -ELOOP, "the archive has indexes that lead to indexes without an end");
}

int import_oci(const Contents *a, const Arguments *arguments, Error *reterr) {
        _cleanup_manifest_ Manifest index = { 0 };
        _cleanup_free_ char *text = NULL;
        const Descriptor *chosen;
        Descriptor found;
        size_t size;
        int r;

        text = contents_text(a, "index.json", MANIFEST_SIZE_MAX, &size, reterr);
        if (!text)
                return reterr->code;
        r = manifest_read(text, size, MEDIA_OCI_INDEX, &index, reterr);
        if (r >= 0 && !index.is_index)
                r = error_set(reterr, -EBADMSG, "it is no index");
        if (r < 0)
                return error_prefix(reterr, r, "index.json of the archive");
        r = choose_name(&index, arguments->wanted, reterr);
        if (r >= 0)
                r = import_oci_choose(&index, &arguments->platform, &chosen, reterr);
        if (r < 0)
                return r;
        found = *chosen;
        r = import_oci_follow(a, &arguments->platform, &found, reterr);
        return r < 0 ? r : assemble_tell(a->blobs, import_oci_name_of(&found), &found.digest, &arguments->platform, reterr);
}
