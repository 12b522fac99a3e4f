#include "agent/rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/statement.h"
#include "store/tables.h"

#define LOOKED_AT_MAX 20000 /* rows, by one request for a page */

int store_job_insert(Store *s, Job *j) {
        bool own = transaction_enter(s);
        int64_t serial = 0;
        int r;

        r = statement_run(s, STATEMENT_JOB_NEXT, SQLITE_OK, &serial);
        j->serial = (uint64_t) serial;
        if (r >= 0)
                r = statement_write(s, STATEMENT_JOB_INSERT, &job_table, table_columns(&job_table), j);
        if (r >= 0)
                r = statement_write(s, STATEMENT_JOB_STATE_INSERT, &job_state_table, table_columns(&job_state_table), j);
        return transaction_leave(s, own, r);
}

int store_job_update(Store *s, const Job *j) {
        int r = statement_write(s, STATEMENT_JOB_STATE_UPDATE, &job_state_table, table_columns(&job_state_table), j);

        if (r < 0)
                return r;
        return sqlite3_changes(s->db) > 0 ? 0 : transaction_failed(s, -ENOENT);
}

int store_job_delete(Store *s, const char *id) {
        return statement_write_text(s, STATEMENT_JOB_DELETE, id);
}

/* Rows. */

typedef struct JobEach {
        StoreJobEach each;
        void *userdata;
        const FieldTable *table, *state; /* state NULL: none */
        unsigned n;
} JobEach;

static int job_row(Store *s, sqlite3_stmt *st, void *userdata) {
        JobEach *e = userdata;
        Job row = { 0 };
        int r;

        r = table_load(e->table, st, 0, &row);
        if (r >= 0 && e->state)
                r = table_load(e->state, st, (int) table_columns(e->table), &row);
        if (r >= 0) {
                e->n++;
                r = e->each(&row, e->userdata);
        }
        job_done(&row);
        return r;
}

static int jobs_take_row(Job *row, void *userdata) {
        memcpy(userdata, row, sizeof(*row));
        memset(row, 0, sizeof(*row));
        return 0;
}

/* The first of what has been bound. */
static int get_one(Store *s, StatementId id, int rc, Job *ret) {
        JobEach e = { .each = jobs_take_row, .userdata = ret, .table = &job_table, .state = &job_state_table };
        int r = statement_each(s, id, rc, job_row, &e);

        if (r < 0)
                return r;
        return e.n > 0 ? 0 : -ENOENT;
}

static int jobs_bind_text(sqlite3_stmt *st, int parameter, const char *text) {
        return text ? sqlite3_bind_text(st, parameter, text, -1, SQLITE_STATIC) : sqlite3_bind_null(st, parameter);
}

int store_job_get(Store *s, const char *id, Job *ret) {
        return get_one(s, STATEMENT_JOB_SELECT_ONE, jobs_bind_text(s->statements[STATEMENT_JOB_SELECT_ONE], 1, id), ret);
}

int store_job_get_by_key(Store *s, const char *tenant, const char *key, Job *ret) {
        sqlite3_stmt *st = s->statements[STATEMENT_JOB_SELECT_KEY];
        int rc = jobs_bind_text(st, 1, tenant ? tenant : "");

        if (rc == SQLITE_OK)
                rc = jobs_bind_text(st, 2, key);
        return get_one(s, STATEMENT_JOB_SELECT_KEY, rc, ret);
}

/* ",queued,running,": what is in the list has commas around it. */
static void list_statuses(unsigned statuses, char *ret, size_t size) {
        size_t used = (size_t) snprintf(ret, size, ",");

        for (JobStatus i = 0; i < _JOB_STATUS_MAX; i++)
                if (statuses & 1U << i)
                        used += (size_t) snprintf(ret + used, size - used, "%s,", job_status_name(i));
}

/* The index that leads to the fewest. */
static StatementId best_statement(const JobFilter *f) {
        if (f->task_id)
                return STATEMENT_JOB_SELECT_TASK;
        if (f->statuses == 1U << JOB_DEAD)
                return STATEMENT_JOB_SELECT_DEAD;
        return f->tenant ? STATEMENT_JOB_SELECT_TENANT : STATEMENT_JOB_SELECT;
}

static int bind_filter(sqlite3_stmt *st, const JobFilter *f, const char *statuses, uint64_t before, uint64_t from) {
        int rc = jobs_bind_text(st, 1, f->tenant);

        if (rc == SQLITE_OK)
                rc = jobs_bind_text(st, 2, f->statuses == 0 ? NULL : statuses);
        if (rc == SQLITE_OK)
                rc = jobs_bind_text(st, 3, f->agent_type);
        if (rc == SQLITE_OK)
                rc = jobs_bind_text(st, 4, f->task_id);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 5, (sqlite3_int64) before);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 6, f->limit);
        return rc == SQLITE_OK ? sqlite3_bind_int64(st, 7, (sqlite3_int64) from) : rc;
}

int store_job_each(Store *s, const JobFilter *f, StoreJobEach each, void *userdata, uint64_t *ret_next) {
        JobEach e = { .each = each, .userdata = userdata, .table = &job_table, .state = &job_state_table };
        StatementId id = best_statement(f);
        uint64_t before, from;
        char statuses[128];
        int64_t newest = 0;
        int r = statement_run(s, STATEMENT_JOB_NEXT, SQLITE_OK, &newest);

        if (r < 0)
                return r;
        before = f->before == 0 ? (uint64_t) newest : MIN_OF(f->before, (uint64_t) newest);
        from = id == STATEMENT_JOB_SELECT && before > LOOKED_AT_MAX ? before - LOOKED_AT_MAX : 0;
        list_statuses(f->statuses, statuses, sizeof(statuses));
        r = statement_each(s, id, bind_filter(s->statements[id], f, statuses, before, from), job_row, &e);
        if (r >= 0)
                *ret_next = e.n < f->limit ? from : 0;
        return r;
}

int store_job_each_open(Store *s, StoreJobEach each, void *userdata) {
        JobEach e = { .each = each, .userdata = userdata, .table = &job_line_table, .state = &job_line_state_table };

        return statement_each(s, STATEMENT_JOB_SELECT_OPEN, SQLITE_OK, job_row, &e);
}

int store_job_each_untold(Store *s, StoreJobEach each, void *userdata) {
        JobEach e = { .each = each, .userdata = userdata, .table = &job_id_table };

        return statement_each(s, STATEMENT_JOB_SELECT_UNTOLD, SQLITE_OK, job_row, &e);
}

int store_job_each_expired(Store *s, usec_t before, unsigned limit, StoreJobEach each, void *userdata) {
        sqlite3_stmt *st = s->statements[STATEMENT_JOB_SELECT_EXPIRED];
        JobEach e = { .each = each, .userdata = userdata, .table = &job_id_table };
        int rc = sqlite3_bind_int64(st, 1, (sqlite3_int64) before);

        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 2, limit);
        return statement_each(s, STATEMENT_JOB_SELECT_EXPIRED, rc, job_row, &e);
}

int store_job_count_dead(Store *s, const char *tenant, uint64_t *ret) {
        int64_t n = 0;
        int r = statement_run(s, STATEMENT_JOB_COUNT_DEAD, jobs_bind_text(s->statements[STATEMENT_JOB_COUNT_DEAD], 1, tenant), &n);

        if (r >= 0)
                *ret = (uint64_t) n;
        return r;
}

/* Attempts. */

int store_attempt_put(Store *s, const JobAttempt *a) {
        return statement_write(s, STATEMENT_ATTEMPT_PUT, &attempt_table, table_columns(&attempt_table), a);
}

typedef struct AttemptEach {
        int (*each)(JobAttempt *row, void *userdata);
        void *userdata;
} AttemptEach;

static int attempt_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const AttemptEach *e = userdata;
        JobAttempt row = { 0 };
        int r = table_load(&attempt_table, st, 0, &row);

        if (r >= 0)
                r = e->each(&row, e->userdata);
        job_attempt_done(&row);
        return r;
}

int store_attempt_each(Store *s, const char *job, int (*each)(JobAttempt *row, void *userdata), void *userdata) {
        AttemptEach e = { each, userdata };

        return statement_each(s, STATEMENT_ATTEMPT_SELECT, jobs_bind_text(s->statements[STATEMENT_ATTEMPT_SELECT], 1, job), attempt_row, &e);
}
