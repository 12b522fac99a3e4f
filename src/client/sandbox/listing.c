#include "client/sandbox/listing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"

#define PAGES_MAX 10000

void listing_done(Listing *l) {
        for (size_t i = 0; i < l->n_pages; i++)
                answer_done(l->pages + i);
        free(l->pages);
        *l = (Listing) { 0 };
}

static const json_t *listing_rows(const Listing *l, size_t page) {
        return l->key ? json_object_get(l->pages[page].json, l->key) : l->pages[page].json;
}

static int listing_get_page(const Place *p, Url *u, const char *cursor, Listing *l) {
        const Url base = *u;
        int r;

        if (ARRAY_EXTEND(l->pages, l->n_pages) < 0)
                return log_failure(-ENOMEM, "out of memory");
        url_query(u, "cursor", cursor);
        r = client_need(p, /* method= */ NULL, u, /* body= */ NULL, l->pages + l->n_pages);
        url_cut(u, &base);
        if (r < 0)
                return r;
        l->n_pages++;
        if (!json_is_array(listing_rows(l, l->n_pages - 1)))
                return log_failure(-EBADMSG, "the daemon's answer is not a list");
        return 0;
}

int listing_get(const Place *p, Url *u, const char *key, Listing *ret) {
        _cleanup_listing_ Listing l = { .key = key };
        const char *cursor = NULL;

        do {
                int r = listing_get_page(p, u, cursor, &l);
                const Answer *last;

                if (r < 0)
                        return r;
                last = l.pages + l.n_pages - 1;
                cursor = key ? json_get_text(last->json, "nextCursor") : http_reader_header(&last->head, "X-Next-Cursor");
        } while (cursor && l.n_pages < PAGES_MAX);
        if (cursor)
                return log_failure(-EBADMSG, "the daemon's list has too many pages");
        *ret = l;
        l = (Listing) { 0 };
        return 0;
}

int listing_sandboxes(const Place *p, Listing *ret) {
        _cleanup_url_ Url u = url_of("/api/sandbox/list");

        return listing_get(p, &u, /* key= */ NULL, ret);
}

/* Prints the text between the brackets, so that numbers stay as the daemon wrote them. A list within an
 * object is encoded again. */
static void listing_print_page(const Listing *l, size_t page, bool *first) {
        const json_t *rows = listing_rows(l, page);
        _cleanup_free_ char *own = l->key ? client_json_print(rows, /* pretty= */ false) : NULL;
        const char *text = own ? own : l->pages[page].text, *begin = strchr(text, '['), *end = strrchr(text, ']');

        if (json_array_size(rows) == 0 || !begin || !end)
                return;
        printf("%s%.*s", *first ? "" : ",", (int) (end - begin - 1), begin + 1);
        *first = false;
}

void listing_print_json(const Listing *l) {
        bool first = true;

        printf("[");
        for (size_t i = 0; i < l->n_pages; i++)
                listing_print_page(l, i, &first);
        printf("]\n");
}

const json_t *listing_row(Listing *l) {
        while (l->page < l->n_pages) {
                const json_t *row = json_array_get(listing_rows(l, l->page), l->row++);

                if (row)
                        return row;
                l->page++;
                l->row = 0;
        }
        l->page = 0;
        return NULL;
}

const char *sandbox_label(const json_t *sandbox) {
        const char *name = json_get_text(sandbox, "name");
        return name ? name : json_get_text_or(sandbox, "id", "?");
}
