/* audit.c: GET /api/audit and /api/audit/verify, for admins.
 *
 * The log can be large: it is read in slices, so that other requests get their turns. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/routes/routes.h"
#include "api/native/values.h"
#include "api/wait.h"
#include "core/secret.h"
#include "observe/audit.h"

#define SLICE     ((size_t) 64 << 10)
#define LIMIT_MAX 1000000
#define TAIL_MAX  1000000

static Audit *native_audit_room(ApiRequest *q) {
        return native_room(q, q->api->rooms.audit, "this daemon keeps no audit log");
}

/* Records, one per line. */

typedef struct NativeAuditListing {
        ApiRequest *q;
        AuditReader reader;
        AuditFilter filter;
        AuditFollower follower;
        bool follow;
        uint64_t left;          /* records that may still be sent */
        const char *line;       /* the line being sent */
        size_t size, sent;
        sd_event_source *defer; /* continues after a slice without a match */
} NativeAuditListing;

static void listing_destroy(ApiRequest *q, bool answered) {
        NativeAuditListing *l = q->state;

        audit_unfollow(&l->follower);
        audit_reader_done(&l->reader);
        sd_event_source_disable_unref(l->defer);
        free(l);
        q->state = NULL;
}

static void on_grown(void *userdata) {
        http_request_continue(((NativeAuditListing *) userdata)->q->http);
}

static int native_audit_on_defer(sd_event_source *source, void *userdata) {
        on_grown(userdata);
        return 0;
}

/* Writes as much of the line as fits, and its newline. */
static size_t native_audit_put_line(NativeAuditListing *l, char *buffer, size_t size) {
        size_t n = MIN_OF(size, l->size - l->sent);

        memcpy(buffer, l->line + l->sent, n);
        l->sent += n;
        if (l->sent == l->size && n < size) {
                buffer[n++] = '\n';
                l->line = NULL;
        }
        return n;
}

/* Returns 1 if there is a line to send. */
static int native_audit_next_line(NativeAuditListing *l, size_t *budget) {
        const char *line;
        size_t size;
        int r;

        while ((r = audit_reader_next(&l->reader, budget, &line, &size)) > 0)
                if (audit_filter_fits(&l->filter, line, size)) {
                        l->line = line;
                        l->size = size;
                        l->sent = 0;
                        l->left--;
                        return 1;
                }
        return r;
}

/* No line for now: waits for the next slice, or for the next record. */
static ssize_t native_audit_rest(NativeAuditListing *l, int r) {
        if (r == -EAGAIN)
                return sd_event_source_set_enabled(l->defer, SD_EVENT_ONESHOT);
        if (r < 0)
                return r;
        if (!l->follow)
                return HTTP_STREAM_END;
        return audit_reader_again(&l->reader);
}

static ssize_t listing_next(HttpRequest *r, uint64_t position, void *buffer, size_t size, void *userdata) {
        NativeAuditListing *l = userdata;
        size_t n = 0, budget = SLICE;
        int k = 1;

        while (n < size) {
                if (!l->line && l->left == 0)
                        return n > 0 ? (ssize_t) n : HTTP_STREAM_END;
                if (!l->line)
                        k = native_audit_next_line(l, &budget);
                if (!l->line)
                        break;
                n += native_audit_put_line(l, (char *) buffer + n, size - n);
        }
        return n > 0 ? (ssize_t) n : native_audit_rest(l, k);
}

static int read_filter(ApiRequest *q, Audit *audit, NativeAuditListing *l) {
        uint64_t tail = 0, cursor = 0, limit = UINT64_MAX;
        int has_tail = api_query_uint(q, "tail", 0, TAIL_MAX, &tail);
        usec_t since = 0, until = 0;
        AuditHead head;

        if (has_tail < 0 || api_query_uint(q, "cursor", 0, UINT64_MAX, &cursor) < 0 ||
                        api_query_uint(q, "limit", 1, LIMIT_MAX, &limit) < 0 || api_query_bool(q, "follow", &l->follow) < 0 ||
                        native_query_time(q, "since", &since) < 0 || native_query_time(q, "until", &until) < 0)
                return -EINVAL;
        audit_head(audit, &head);
        if (has_tail > 0 && head.seq > tail)
                cursor = MAX_OF(cursor, head.seq - tail);
        if (!l->follow && head.seq == 0)
                limit = 0;
        l->left = limit;
        l->filter = (AuditFilter) {
                .after = cursor,
                .last = l->follow ? 0 : head.seq, /* the record of this call comes later, and is left out */
                .sandbox = http_query(q->http, "sandbox"),
                .actor = http_query(q->http, "actor"),
        };
        if (since > 0)
                audit_time_print(since, l->filter.since);
        if (until > 0)
                audit_time_print(until, l->filter.until);
        if (cursor > 0)
                (void) audit_reader_seek(&l->reader, cursor);
        if (since > 0)
                (void) audit_reader_skip_before(&l->reader, since);
        return 0;
}

static int listing_begin(NativeAuditListing *l, Audit *audit) {
        int r = audit_reader_init(&l->reader, audit_directory(audit));

        if (r >= 0)
                r = sd_event_add_defer(l->q->manager->event, &l->defer, native_audit_on_defer, l);
        if (r >= 0)
                r = sd_event_source_set_enabled(l->defer, SD_EVENT_OFF);
        return r;
}

static void native_audit_list(ApiRequest *q) {
        Audit *audit = native_audit_room(q);
        NativeAuditListing *l = audit ? calloc(1, sizeof(*l)) : NULL;
        int r;

        if (!l) {
                if (audit)
                        (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        *l = (NativeAuditListing) { .q = q, .reader = AUDIT_READER_INIT, .follower = { .grown = on_grown, .userdata = l } };
        q->state = l;
        q->destroy = listing_destroy;
        r = listing_begin(l, audit);
        if (r < 0) {
                (void) native_core_error(q, r, "cannot read the audit log");
                return;
        }
        if (read_filter(q, audit, l) < 0)
                return;
        if (l->follow)
                audit_follow(audit, &l->follower);
        q->answered = true;
        (void) http_answer_stream(q->http, 200, "application/x-ndjson", UINT64_MAX, listing_next, l);
}

/* Verification of the chain. */

typedef struct NativeAuditCheck {
        ApiSlices slices;
        AuditVerifier verifier;
} NativeAuditCheck;

static void check_destroy(ApiRequest *q, bool answered) {
        NativeAuditCheck *c = q->state;

        audit_verify_done(&c->verifier);
        api_slices_stop(&c->slices);
}

typedef struct NativeVerdict {
        const AuditVerdict *verdict;
        const AuditVerdict *problem; /* NULL: the chain is intact */
        bool failing;
} NativeVerdict;

#define OF(member) offsetof(AuditVerdict, member)
static const Shape audit_problem_shape = SHAPE_FIELDS(
        { "file",    SHAPE_CHARS,  SHAPE_AT(AuditVerdict, file)                            },
        { "line",    SHAPE_UINT64, OF(line)                                                },
        { "seq",     SHAPE_UINT64, OF(seq)                                                 },
        { "message", SHAPE_CHARS,  SHAPE_AT(AuditVerdict, problem), .flags = SHAPE_ALWAYS  });

static const ShapeField audit_verdict_fields[] = {
        { "intact", SHAPE_BOOL, OF(intact) }, { "records", SHAPE_UINT64, OF(records) },
        { "first", SHAPE_UINT64, OF(first) }, { "last", SHAPE_UINT64, OF(last) },
        { "hash",    SHAPE_CHARS,  SHAPE_AT(AuditVerdict, hash), .flags = SHAPE_ALWAYS  },
        { "files",   SHAPE_UINT64, OF(n_files)                                          },
        { "torn",    SHAPE_UINT64, OF(torn)                                             },
        { "lost",    SHAPE_UINT64, OF(lost)                                             },
};
static const Shape audit_verdict_shape = SHAPE_BODY(audit_verdict_fields);

static const Shape native_audit_verdict_answer = SHAPE_FIELDS(
        { NULL,      SHAPE_POINTER, offsetof(NativeVerdict, verdict), SHAPE_BEARER, .shape = &audit_verdict_shape },
        { "failing", SHAPE_BOOL,    offsetof(NativeVerdict, failing) },
        { "problem", SHAPE_POINTER, offsetof(NativeVerdict, problem), .shape = &audit_problem_shape });

static int answer_verdict(ApiRequest *q, const AuditVerdict *v) {
        AuditStats stats;

        audit_stats(q->api->rooms.audit, &stats);
        return api_show(q, 200, &(NativeVerdict) { v, v->intact ? NULL : v, stats.error < 0 });
}

static int check_slice(ApiRequest *q) {
        NativeAuditCheck *c = q->state;
        int r = audit_verify_slice(&c->verifier, SLICE);

        if (r > 0)
                return 1;
        (void) (r < 0 ? native_core_error(q, r, "cannot read the audit log") : answer_verdict(q, &c->verifier.verdict));
        return 0;
}

static void native_audit_verify(ApiRequest *q) {
        Audit *audit = native_audit_room(q);
        NativeAuditCheck *c = audit ? api_keep_state(q, sizeof(*c), check_destroy) : NULL;
        AuditHead head;
        int r;

        if (!c)
                return;
        audit_head(audit, &head);
        r = audit_verify_begin(&c->verifier, audit_directory(audit), secret_sha256, &head);
        if (r >= 0)
                r = api_slices_start(&c->slices, q, check_slice);
        if (r < 0)
                (void) native_core_error(q, r, "cannot read the audit log");
}

const ApiRoute audit_routes[] = {
        { "GET", "/api/audit",        MAY_ADMIN, .while_recovering = true, .handle = native_audit_list,
          .queries = QUERIES("since", "until", "sandbox", "actor", "cursor", "limit", "tail", "follow") },
        { "GET", "/api/audit/verify", MAY_ADMIN, .while_recovering = true, .handle = native_audit_verify, ANSWER(audit_verdict) },
        { 0 },
};
