#include "registry/contents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define MEMBERS_MAX   32768
#define TEXT_MAX      ((size_t) 8 * 1024 * 1024)  /* one document */
#define TEXTS_MAX     ((size_t) 64 * 1024 * 1024) /* all of them */
#define LINKS_MAX     8
#define BUFFER_SIZE   (256 * 1024)
#define BLOBS_FOLDER  "blobs/sha256/"

void contents_done(Contents *a) {
        for (size_t i = 0; i < a->n; i++) {
                free(a->items[i].name);
                free(a->items[i].target);
                free(a->items[i].text);
        }
        free(a->items);
        a->items = NULL;
        a->n = a->room = 0;
}

/* Of two members with the same name the later one counts, as it does when the archive is unpacked. */
static const Content *find_exact(const Contents *a, const char *name) {
        for (size_t i = a->n; i-- > 0;)
                if (strcmp(a->items[i].name, name) == 0)
                        return a->items + i;
        return NULL;
}

const Content *contents_find(const Contents *a, const char *name) {
        char clean[MEMBER_NAME_MAX + 1];
        const Content *c;

        if (member_clean_name("", name, clean) < 0)
                return NULL;
        c = find_exact(a, clean);
        for (unsigned i = 0; c && c->target && i < LINKS_MAX; i++)
                c = find_exact(a, c->target);
        return c && !c->target ? c : NULL;
}

char *contents_text(const Contents *a, const char *name, size_t max, size_t *ret_size, Error *reterr) {
        const Content *c = contents_find(a, name);
        char *text = NULL;

        if (!c)
                (void) error_set(reterr, -ENOENT, "the archive has no '%.200s'", name);
        else if (c->size > max)
                (void) error_set(reterr, -EFBIG, "'%.200s' in the archive has %llu bytes; at most %zu are read", name, (unsigned long long) c->size, max);
        else if (!c->text)
                (void) blobdir_read(a->blobs, &c->digest, max, &text, ret_size, reterr);
        else if (!(text = malloc(c->size + 1)))
                (void) error_set(reterr, -ENOMEM, "out of memory");
        else {
                memcpy(text, c->text, c->size + 1);
                *ret_size = c->size;
        }
        return text;
}

static Content *contents_add(Contents *a, const char *name, Error *reterr) {
        Content *c;

        if (a->n >= MEMBERS_MAX) {
                (void) error_set(reterr, -EFBIG, "the archive has more than %d members", MEMBERS_MAX);
                return NULL;
        }
        c = ARRAY_RESERVE(a->items, a->room, a->n + 1) < 0 ? NULL : a->items + a->n;
        if (c) {
                *c = (Content) { .name = strdup(name) };
                a->n += c->name != NULL;
        }
        if (!c || !c->name) {
                (void) error_set(reterr, -ENOMEM, "out of memory");
                return NULL;
        }
        return c;
}

static bool ends_with(const char *name, const char *end) {
        size_t n = strlen(name), k = strlen(end);

        return n >= k && strcmp(name + n - k, end) == 0;
}

static bool is_document(const Member *m) {
        static const char *const ends[] = { ".json", "/json", "/VERSION" };
        static const char *const names[] = { "oci-layout", "repositories" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strcmp(m->name, names[i]) == 0)
                        return m->size <= TEXT_MAX;
        for (size_t i = 0; i < ELEMENTSOF(ends); i++)
                if (ends_with(m->name, ends[i]))
                        return m->size <= TEXT_MAX;
        return false;
}

static int contents_take_text(Contents *a, Members *m, Content *c, uint64_t size, Error *reterr) {
        size_t have = 0;

        if (size > TEXTS_MAX - a->text_bytes)
                return error_set(reterr, -EFBIG, "the archive has more than %zu bytes of documents", TEXTS_MAX);
        c->text = malloc((size_t) size + 1);
        if (!c->text)
                return error_set(reterr, -ENOMEM, "out of memory");
        while (have < size) {
                ssize_t n = members_data(m, c->text + have, (size_t) size - have, reterr);

                if (n < 0)
                        return (int) n;
                if (n == 0)
                        break;
                have += (size_t) n;
        }
        c->text[have] = 0;
        c->size = have;
        a->text_bytes += have;
        return 0;
}

static int copy_blob(Contents *a, Members *m, BlobPart *p, const char *digest, Error *reterr) {
        static char buffer[BUFFER_SIZE];

        for (;;) {
                ssize_t n = members_data(m, buffer, sizeof(buffer), reterr);
                int r;

                if (n <= 0)
                        return (int) n;
                if ((uint64_t) n > a->max_bytes - a->bytes)
                        return error_set(reterr, -EFBIG, "the archive has more than the %llu bytes that are allowed", (unsigned long long) a->max_bytes);
                a->bytes += (uint64_t) n;
                r = blob_part_write(p, buffer, (size_t) n, reterr);
                if (r < 0)
                        return r;
                a->output->bytes = a->bytes;
                r = output_progress(a->output, digest, /* now= */ false, reterr);
                if (r < 0)
                        return r;
        }
}

static int take_blob(Contents *a, Members *m, Content *c, Error *reterr) {
        _cleanup_blob_part_ BlobPart p = BLOB_PART_INIT;
        Digest expected = { 0 };
        bool named = false;
        int r;

        if (strncmp(c->name, BLOBS_FOLDER, sizeof(BLOBS_FOLDER) - 1) == 0) {
                char text[DIGEST_SIZE + 1];

                (void) snprintf(text, sizeof(text), DIGEST_PREFIX "%.64s", c->name + sizeof(BLOBS_FOLDER) - 1);
                named = digest_is_valid(text) && strlen(c->name) == sizeof(BLOBS_FOLDER) - 1 + 64;
                if (named)
                        memcpy(expected.text, text, sizeof(text));
        }
        if (named && blobdir_find(a->blobs, &expected, &c->size, NULL) > 0) {
                c->digest = expected; /* verified when it was stored */
                return 0;
        }
        r = blob_part_new(&p, a->blobs, reterr);
        if (r >= 0)
                r = copy_blob(a, m, &p, expected.text, reterr);
        if (r < 0)
                return r;
        c->size = p.size;
        return blob_part_commit(&p, named ? &expected : NULL, &c->digest, reterr);
}

int contents_take(Contents *a, Members *m, const Member *member, Error *reterr) {
        Content *c;

        if ((member->type != MEMBER_FILE && member->type != MEMBER_LINK) || !member->name[0])
                return 0;
        c = contents_add(a, member->name, reterr);
        if (!c)
                return reterr->code;
        if (member->type == MEMBER_LINK) {
                c->target = strdup(member->target);
                return c->target ? 0 : error_set(reterr, -ENOMEM, "out of memory");
        }
        return is_document(member) ? contents_take_text(a, m, c, member->size, reterr) : take_blob(a, m, c, reterr);
}

bool contents_is_sign(const char *name) {
        static const char *const names[] = { "oci-layout", "index.json", "manifest.json", "repositories" };
        size_t hex = strspn(name, "0123456789abcdef");

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strcmp(name, names[i]) == 0)
                        return true;
        if (strncmp(name, BLOBS_FOLDER, sizeof(BLOBS_FOLDER) - 1) == 0)
                return true;
        return hex == 64 && (name[hex] == '/' || strcmp(name + hex, ".json") == 0 || strcmp(name + hex, ".tar") == 0);
}
