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
#include "client/http/digest.h"
#include "client/human.h"
#include "client/lines.h"
#include "client/verbs.h"
#include "observe/audit-chain.h"

/* Records. */

#define LINE_MAX_BYTES ((size_t) 16 << 20)

/* NULL: prints nothing. */
static void print_part(const char *before, const char *text, int width) {
        char *clean = text ? human_clean(text) : NULL;

        if (clean)
                printf("%s%-*s", before, width, clean);
        free(clean);
}

static void print_call(const json_t *record) {
        print_part(" ", json_get_text_or(record, "actor", "-"), 12);
        printf(" %3lld", json_count(record, "status"));
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

        printf("%8lld", json_count(record, "seq"));
        print_part(" ", json_get_text_or(record, "at", "-"), 0);
        if (strcmp(json_get_text_or(record, "kind", ""), "call") == 0)
                print_call(record);
        else
                print_event(record);
        putchar('\n');
        json_decref(record);
}

static int audit_log_take_line(void *userdata, const char *line, size_t size) {
        const AuditOptions *o = userdata;

        if (!o->raw)
                print_record(line, size);
        else if (fwrite(line, 1, size, stdout) == size)
                putchar('\n');
        return common_query(&o->common, "follow") && fflush(stdout) != 0 ? -errno : 0;
}

static int audit_log_show(const Place *place, AuditOptions *o, const Operands *words, bool raw) {
        _cleanup_lines_ LineReader lines = { .line = audit_log_take_line, .userdata = o, .max = LINE_MAX_BYTES };

        o->raw = raw || o->common.json;
        return ask_receive(place, o, words, /* accept= */ NULL, line_reader_feed, &lines, /* error= */ NULL);
}

int audit_ls(const Place *place, void *options, const Operands *words) {
        return audit_log_show(place, options, words, /* raw= */ false);
}

int audit_tail(const Place *place, void *options, const Operands *words) {
        char count[24];

        (void) snprintf(count, sizeof(count), "%" PRIu64, ((AuditOptions *) options)->count);
        return audit_log_show(place, options, &(const Operands) { (char *[]) { count }, 1 }, /* raw= */ false);
}

/* A directory. */

static int open_dir(const char *path) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                log_error("cannot open the directory '%s': %m", path);
        return fd;
}

/* Converts a time that the daemon would accept to the form that records have. */
static int time_text(const AuditOptions *o, const char *name, char ret[static 32]) {
        const char *value = common_query(&o->common, name);
        usec_t usec, now = clock_wall_usec();

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
        AuditOptions *o = options;
        AuditFilter filter = { .sandbox = common_query(&o->common, "sandbox"),
                .actor = common_query(&o->common, "actor") };
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (!o->dir)
                return audit_log_show(place, o, words, /* raw= */ true);
        if (time_text(o, "since", filter.since) < 0 || time_text(o, "until", filter.until) < 0)
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

static void audit_print_count(const json_t *verdict, const char *key, const char *before, const char *after) {
        long long n = json_count(verdict, key);

        if (n > 0)
                printf("  %s%lld %s\n", before, n, after);
}

void audit_show_verdict(const json_t *verdict, const char *word) {
        const json_t *problem = json_object_get(verdict, "problem");
        const char *file = json_get_text(problem, "file");

        if (json_get_bool(verdict, "intact")) {
                printf("✓ %lld records in %lld files, unbroken\n", json_count(verdict, "records"),
                                json_count(verdict, "files"));
                printf("✓ the newest is record %lld, %s\n", json_count(verdict, "last"),
                                json_get_text_or(verdict, "hash", "?"));
                audit_print_count(verdict, "torn", "after ", "crashes an incomplete record was removed");
                audit_print_count(verdict, "lost", "", "records could not be written when they came (a full disk?)");
        } else if (file && *file)
                printf("✗ %s:%lld: %s\n", file, json_count(problem, "line"), json_get_text_or(problem, "message", "?"));
        else
                printf("✗ %s\n", json_get_text_or(problem, "message", "?"));
        if (json_get_bool(verdict, "failing"))
                puts("✗ records cannot be written at the moment: see the daemon's log");
}

/* The verdict in the daemon's form. */
static json_t *audit_verdict_json(const AuditVerdict *v) {
        json_t *problem = v->intact ? json_null()
                                    : json_pack("{s:s,s:I,s:I,s:s}", "file", v->file, "line", (json_int_t) v->line, "seq",
                                                      (json_int_t) v->seq, "message", v->problem);

        return json_pack("{s:b,s:I,s:I,s:I,s:s,s:I,s:I,s:I,s:o}", "intact", v->intact, "records", (json_int_t) v->records, "first",
                        (json_int_t) v->first, "last", (json_int_t) v->last, "hash", v->hash, "files", (json_int_t) v->n_files, "torn",
                        (json_int_t) v->torn, "lost", (json_int_t) v->lost, "problem", problem);
}

static int verify_dir(const AuditOptions *o, const Operands *words) {
        _cleanup_close_ int fd = open_dir(o->dir);
        _cleanup_answer_ Answer a = { 0 };
        AuditVerifier v;
        int r;

        if (fd < 0)
                return EXIT_OWN_FAILURE;
        r = audit_verify_begin(&v, fd, sha256, /* head= */ NULL);
        if (r >= 0)
                while ((r = audit_verify_slice(&v, SIZE_MAX)) > 0)
                        ;
        a.json = r < 0 ? NULL : audit_verdict_json(&v.verdict);
        a.text = a.json ? client_json_print(a.json, /* pretty= */ false) : NULL;
        audit_verify_done(&v);
        if (!a.text)
                return verb_refuse("cannot read the records of '%s': %s", o->dir, strerror(r < 0 ? -r : ENOMEM));
        a.size = strlen(a.text);
        return ask_show(&o->common, words, &a);
}

int audit_verify(const Place *place, void *options, const Operands *words) {
        const AuditOptions *o = options;

        return o->dir ? verify_dir(o, words) : ask_run(place, options, words);
}
