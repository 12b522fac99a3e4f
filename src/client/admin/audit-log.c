/* cove audit verify|export|ls|tail: the audit log, from a daemon or from a directory that a daemon has written. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/parse.h"
#include "client/admin/audit.h"
#include "client/http/sha256.h"
#include "client/human.h"
#include "client/verbs.h"
#include "observe/audit-chain.h"

#define EXIT_BROKEN 1

/* Records. */

typedef struct AuditLogPrinter {
        bool raw, flush;
        char line[AUDIT_RECORD_MAX + 1];
        size_t size;
        bool too_long;
} AuditLogPrinter;

/* NULL: nothing at all. */
static void print_part(const char *before, const char *text, int width) {
        char *clean = text ? human_clean(text) : NULL;

        if (clean)
                printf("%s%-*s", before, width, clean);
        free(clean);
}

static void print_call(const json_t *record) {
        print_part(" ", json_get_text_or(record, "actor", "-"), 12);
        printf(" %3lld", (long long) json_get_integer(record, "status", 0));
        print_part(" ", json_get_text_or(record, "method", "-"), 0);
        print_part(" ", json_get_text_or(record, "path", "-"), 0);
        print_part(" ", json_get_text(record, "file"), 0);
        print_part(" from ", json_get_text(record, "remote"), 0);
}

static void print_event(const json_t *record) {
        print_part(" ", json_get_text_or(record, "kind", "-"), 12);
        print_part(" ", json_get_text_or(record, "event", "-"), 0);
        print_part(" ", json_get_text(record, "sandbox"), 0);
        print_part(" ", json_get_text(record, "execution"), 0);
        print_part(": ", json_get_text(record, "text"), 0);
}

static void print_record(const char *line, size_t size) {
        Error error = { 0 };
        json_t *record = json_parse(line, size, &error);

        printf("%8lld", (long long) json_get_integer(record, "seq", 0));
        print_part(" ", json_get_text_or(record, "at", "-"), 0);
        if (strcmp(json_get_text_or(record, "kind", ""), "call") == 0)
                print_call(record);
        else
                print_event(record);
        putchar('\n');
        json_decref(record);
}

static void audit_log_end_line(AuditLogPrinter *p) {
        if (p->raw) {
                (void) fwrite(p->line, 1, p->size, stdout);
                putchar('\n');
        } else if (!p->too_long)
                print_record(p->line, p->size);
        p->size = 0;
        p->too_long = false;
}

static int audit_log_take_body(void *userdata, const void *data, size_t size) {
        const char *text = data;
        AuditLogPrinter *p = userdata;

        for (size_t i = 0; i < size; i++)
                if (text[i] == '\n')
                        audit_log_end_line(p);
                else if (p->size < sizeof(p->line) - 1)
                        p->line[p->size++] = text[i];
                else
                        p->too_long = true;
        return p->flush && fflush(stdout) != 0 ? -errno : 0;
}

/* "10m" is so many seconds ago. */
static void query_time(Url *u, const char *name, const char *value) {
        usec_t usec;

        if (value && parse_duration(value, &usec) >= 0)
                url_query_number(u, name, usec / USEC_PER_SEC);
        else
                url_query(u, name, value);
}

static int audit_log_show(const Place *place, const AuditOptions *o, bool raw, bool tail) {
        _cleanup_free_ AuditLogPrinter *p = calloc(1, sizeof(*p));
        _cleanup_url_ Url u = { 0 };
        Request q = REQUEST_INIT;

        url_begin(&u, "/api/audit");
        query_time(&u, "since", o->since);
        query_time(&u, "until", o->until);
        url_query(&u, "sandbox", o->sandbox);
        url_query(&u, "actor", o->actor);
        if (tail)
                url_query_number(&u, "tail", o->count);
        if (o->follow)
                url_query(&u, "follow", "1");
        if (!p || u.error < 0)
                return verb_refuse("out of memory");
        p->raw = raw || o->common.json;
        p->flush = o->follow;
        q.path = u.text;
        q.sink = audit_log_take_body;
        q.sink_data = p;
        return client_transfer(place, &q, /* error= */ NULL, /* ret_head= */ NULL) < 0 ? EXIT_OWN_FAILURE : 0;
}

int audit_ls(const Place *place, void *options, const Operands *words) {
        return audit_log_show(place, options, /* raw= */ false, /* tail= */ false);
}

int audit_tail(const Place *place, void *options, const Operands *words) {
        return audit_log_show(place, options, /* raw= */ false, /* tail= */ true);
}

/* A directory. */

static int open_dir(const char *path) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                log_error("cannot open the directory '%s': %m", path);
        return fd;
}

/* Words for a time that the daemon would understand, as records have it. */
static int time_text(const char *name, const char *value, char ret[static 32]) {
        usec_t usec, now = human_now();

        if (!value)
                return 0;
        if (parse_duration(value, &usec) >= 0)
                usec = usec < now ? now - usec : 0;
        else if (human_parse_time(value, &usec) < 0) {
                log_error("--%s: '%s' is neither a time ago, as in 10m, nor a time as in 2026-01-31T12:00:00Z", name, value);
                return -EINVAL;
        }
        audit_time_print(usec, ret);
        return 0;
}

static int print_files(int dirfd, const AuditFilter *filter) {
        AuditReader reader = AUDIT_READER_INIT;
        size_t size, budget = SIZE_MAX;
        const char *line;
        int r = audit_reader_init(&reader, dirfd);

        while (r >= 0 && (r = audit_reader_next(&reader, &budget, &line, &size)) > 0)
                if (audit_filter_fits(filter, line, size)) {
                        (void) fwrite(line, 1, size, stdout);
                        putchar('\n');
                }
        audit_reader_done(&reader);
        return r;
}

int audit_export(const Place *place, void *options, const Operands *words) {
        const AuditOptions *o = options;
        AuditFilter filter = { .sandbox = o->sandbox, .actor = o->actor };
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (!o->dir)
                return audit_log_show(place, o, /* raw= */ true, /* tail= */ false);
        if (time_text("since", o->since, filter.since) < 0 || time_text("until", o->until, filter.until) < 0)
                return EXIT_OWN_FAILURE;
        fd = open_dir(o->dir);
        if (fd < 0)
                return EXIT_OWN_FAILURE;
        r = print_files(fd, &filter);
        if (r < 0)
                log_error("cannot read the records of '%s': %s", o->dir, strerror(-r));
        return r < 0 ? EXIT_OWN_FAILURE : 0;
}

/* The check. */

static void print_good(uint64_t records, uint64_t files, uint64_t last, const char *hash, uint64_t torn, uint64_t lost) {
        printf("✓ %" PRIu64 " records in %" PRIu64 " files, unbroken\n", records, files);
        printf("✓ the newest is record %" PRIu64 ", %s\n", last, hash);
        if (torn > 0)
                printf("  after %" PRIu64 " crashes an unfinished record was taken off\n", torn);
        if (lost > 0)
                printf("  %" PRIu64 " records could not be written when they came (a full disk?)\n", lost);
}

static void print_bad(const char *file, uint64_t line, const char *problem) {
        if (file && *file)
                printf("✗ %s:%" PRIu64 ": %s\n", file, line, problem);
        else
                printf("✗ %s\n", problem);
}

static void print_verdict_json(const AuditVerdict *v) {
        json_t *problem = v->intact ? json_null()
                                    : json_pack("{s:s,s:I,s:I,s:s}", "file", v->file, "line", (json_int_t) v->line, "seq",
                                                      (json_int_t) v->seq, "message", v->problem);
        json_t *o = json_pack("{s:b,s:I,s:I,s:I,s:s,s:I,s:I,s:I,s:o}", "intact", v->intact, "records", (json_int_t) v->records, "first",
                        (json_int_t) v->first, "last", (json_int_t) v->last, "hash", v->hash, "files", (json_int_t) v->n_files, "torn",
                        (json_int_t) v->torn, "lost", (json_int_t) v->lost, "problem", problem);
        char *text = o ? client_json_print(o, /* pretty= */ false) : NULL;

        if (text)
                puts(text);
        free(text);
        json_decref(o);
}

static int verify_dir(const AuditOptions *o) {
        _cleanup_close_ int fd = open_dir(o->dir);
        AuditVerifier v;
        int r;

        if (fd < 0)
                return EXIT_OWN_FAILURE;
        r = audit_verify_begin(&v, fd, sha256, /* head= */ NULL);
        if (r >= 0)
                while ((r = audit_verify_slice(&v, SIZE_MAX)) > 0)
                        ;
        if (r < 0)
                log_error("cannot read the records of '%s': %s", o->dir, strerror(-r));
        else if (o->common.json)
                print_verdict_json(&v.verdict);
        else if (v.verdict.intact)
                print_good(v.verdict.records, v.verdict.n_files, v.verdict.last, v.verdict.hash, v.verdict.torn, v.verdict.lost);
        else
                print_bad(v.verdict.file, v.verdict.line, v.verdict.problem);
        audit_verify_done(&v);
        return r < 0 ? EXIT_OWN_FAILURE : v.verdict.intact ? 0 : EXIT_BROKEN;
}

static void print_answer(const json_t *answer) {
        const json_t *problem = json_object_get(answer, "problem");

        if (json_get_bool(answer, "intact"))
                print_good((uint64_t) json_get_integer(answer, "records", 0), (uint64_t) json_get_integer(answer, "files", 0),
                                (uint64_t) json_get_integer(answer, "last", 0), json_get_text_or(answer, "hash", "?"),
                                (uint64_t) json_get_integer(answer, "torn", 0), (uint64_t) json_get_integer(answer, "lost", 0));
        else
                print_bad(json_get_text(problem, "file"), (uint64_t) json_get_integer(problem, "line", 0),
                                json_get_text_or(problem, "message", "?"));
        if (json_get_bool(answer, "failing"))
                puts("✗ records cannot be written at the moment: see the daemon's log");
}

int audit_verify(const Place *place, void *options, const Operands *words) {
        const AuditOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        if (o->dir)
                return verify_dir(o);
        url_begin(&u, "/api/audit/verify");
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                print_answer(a.json);
        return json_get_bool(a.json, "intact") ? 0 : EXIT_BROKEN;
}
