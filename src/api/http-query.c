/* http-query.c: parses and decodes the query. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/http-internal.h"
#include "api/percent.h"

size_t http_unescape_nothing(void *cls, struct MHD_Connection *mhd, char *text) {
        return strlen(text);
}

typedef struct QueryReader {
        HttpRequest *request;
        size_t n, size; /* number of pairs; total size of their texts */
        char *to;
        int error;
} QueryReader;

static enum MHD_Result measure_pair(void *cls, enum MHD_ValueKind kind, const char *name, const char *value) {
        QueryReader *q = cls;

        q->n++;
        q->size += strlen(name) + 1 + (value ? strlen(value) : 0) + 1;
        return MHD_YES;
}

static char *http_query_take_text(QueryReader *q, const char *text) {
        char *copy = q->to;
        size_t n = text ? strlen(text) : 0;

        q->to += n + 1;
        if (percent_decode(text, n, copy, &n) < 0)
                q->error = -EILSEQ;
        return copy;
}

static enum MHD_Result take_pair(void *cls, enum MHD_ValueKind kind, const char *name, const char *value) {
        QueryReader *q = cls;
        HttpPair *pair = q->request->queries + q->request->n_queries++;

        pair->name = http_query_take_text(q, name);
        pair->value = http_query_take_text(q, value);
        return q->error < 0 ? MHD_NO : MHD_YES;
}

/* MHD has split the query at "&" and "=", and replaced "+" by blanks. -EILSEQ: a bad escape, or a NUL.
 * -E2BIG: too many pairs. */
int http_read_query(HttpRequest *r) {
        QueryReader q = { .request = r };

        (void) MHD_get_connection_values(r->connection->mhd, MHD_GET_ARGUMENT_KIND, measure_pair, &q);
        r->query_size = q.size;
        if (q.n == 0)
                return 0;
        if (q.n > STRANGER_QUERIES)
                return -E2BIG;
        r->queries = calloc(q.n, sizeof(HttpPair));
        r->query_text = q.to = malloc(q.size);
        if (!r->queries || !r->query_text)
                return -ENOMEM;
        (void) MHD_get_connection_values(r->connection->mhd, MHD_GET_ARGUMENT_KIND, take_pair, &q);
        if (q.error < 0)
                r->n_queries = 0;
        return q.error;
}

const char *http_query(const HttpRequest *r, const char *name) {
        for (size_t i = 0; i < r->n_queries; i++)
                if (strcmp(r->queries[i].name, name) == 0)
                        return r->queries[i].value;
        return NULL;
}

int http_query_each(const HttpRequest *r, int (*each)(const char *name, const char *value, void *userdata), void *userdata) {
        for (size_t i = 0; i < r->n_queries; i++) {
                int k = each(r->queries[i].name, r->queries[i].value, userdata);

                if (k < 0)
                        return k;
        }
        return 0;
}
