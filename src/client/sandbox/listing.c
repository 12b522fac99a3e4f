#include "client/sandbox/listing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define PAGES_MAX 10000

void listing_done(Listing *l) {
        for (size_t i = 0; i < l->n_pages; i++)
                answer_done(l->pages + i);
        free(l->pages);
        *l = (Listing) { 0 };
}

static void add_filter(Url *u, const ListFilter *f) {
        url_query(u, "status", f->status);
        url_query(u, "agentType", f->agent_type);
        url_query(u, "taskId", f->task_id);
        url_query(u, "name", f->name);
        for (size_t i = 0; i < f->metadata.n; i++) {
                const char *assignment = f->metadata.items[i], *equals = strchr(assignment, '=');
                _cleanup_free_ char *key = NULL;

                if (asprintf(&key, "metadata.%.*s", (int) (equals - assignment), assignment) < 0) {
                        key = NULL;
                        u->error = -ENOMEM;
                        return;
                }
                url_query(u, key, equals + 1);
        }
}

static int get_page(const Place *p, const ListFilter *filter, const char *cursor, Listing *l) {
        Answer *bigger = reallocarray(l->pages, l->n_pages + 1, sizeof(Answer));
        _cleanup_url_ Url u = { 0 };
        int r;

        if (!bigger) {
                log_error("out of memory");
                return -ENOMEM;
        }
        l->pages = bigger;
        url_begin(&u, "/api/sandbox/list");
        if (filter)
                add_filter(&u, filter);
        url_query(&u, "cursor", cursor);
        r = client_need(p, /* method= */ NULL, &u, /* body= */ NULL, l->pages + l->n_pages);
        if (r < 0)
                return r;
        l->n_pages++;
        if (!json_is_array(l->pages[l->n_pages - 1].json)) {
                log_error("the daemon's list is no list");
                return -EBADMSG;
        }
        return 0;
}

int listing_get(const Place *p, const ListFilter *filter, Listing *ret) {
        _cleanup_listing_ Listing l = { 0 };
        const char *cursor = NULL;

        do {
                int r = get_page(p, filter, cursor, &l);
                if (r < 0)
                        return r;
                cursor = http_reader_header(&l.pages[l.n_pages - 1].head, "X-Next-Cursor");
        } while (cursor && l.n_pages < PAGES_MAX);
        if (cursor) {
                log_error("the daemon's list does not end");
                return -EBADMSG;
        }
        *ret = l;
        l = (Listing) { 0 };
        return 0;
}

/* The text between the brackets. The numbers in it stay as the daemon wrote them. */
static void print_members(const Answer *a, bool *first) {
        const char *begin = strchr(a->text, '['), *end = strrchr(a->text, ']');

        if (json_array_size(a->json) == 0 || !begin || !end)
                return;
        printf("%s%.*s", *first ? "" : ",", (int) (end - begin - 1), begin + 1);
        *first = false;
}

void listing_print_json(const Listing *l) {
        bool first = true;

        printf("[");
        for (size_t i = 0; i < l->n_pages; i++)
                print_members(l->pages + i, &first);
        printf("]\n");
}

int listing_each(const Listing *l, int (*each)(const json_t *sandbox, void *userdata), void *userdata) {
        for (size_t i = 0; i < l->n_pages; i++) {
                const json_t *sandbox;
                size_t j;

                json_array_foreach(l->pages[i].json, j, sandbox) {
                        int r = each(sandbox, userdata);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

const char *sandbox_label(const json_t *sandbox) {
        const char *name = json_get_text(sandbox, "name");
        return name ? name : json_get_text_or(sandbox, "id", "?");
}
