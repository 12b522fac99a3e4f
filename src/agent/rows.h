/* rows.h: store rows of agent executions.
 *
 * The rules of core/store.h apply: rows in, rows out, each function is one transaction unless store_begin() was called,
 * the same errors.
 * Must not know: what the fields mean. */
#pragma once

#include "agent/agent.h"
#include "core/store.h"

extern const StoreTable job_table, job_line_table, job_id_table, attempt_table;
int store_job_insert(Store *s, Job *j) _must_check_;         /* sets its serial. -EEXIST: the idempotency key is taken */
STORE_WRITE(store_job_update, store_update, job_table, Job); /* its state and result. -ENOENT */
STORE_DELETE(store_job_delete, job_table); /* and its attempts */

/* -ENOENT. The caller frees with job_done(). */
int store_job_get(Store *s, const char *id, Job *ret);
int store_job_get_by_key(Store *s, const char *tenant, const char *key, Job *ret);

/* The callee may take members out of the row; it returns < 0 to stop. */
typedef int (*StoreJobEach)(Job *row, void *userdata);
/* Newest first. Where no index fits the filter, the number of rows read is limited: ret_next is the serial to continue
 * from (JobFilter.before); 0: that was all. */
int store_job_each(Store *s, const JobFilter *filter, StoreJobEach each, void *userdata, uint64_t *ret_next);
/* Those that have not ended, in order: serial, id, tenant, profile, priority and what else the queue needs; the rest of
 * the row is empty. */
STORE_EACH(store_job_each_open, job_line_table, Job);
/* Those with a pending webhook; the id only. */
STORE_EACH(store_job_each_untold, job_id_table, Job);

int store_job_count_dead(Store *s, const char *tenant /* NULL: all */, uint64_t *ret);
/* Those that ended before that time; the id only, oldest first. */
int store_job_each_expired(Store *s, usec_t before, unsigned limit, StoreJobEach each, void *userdata);

/* Those whose id begins with the prefix; the id only. */
int store_job_each_prefix(Store *s, const char *prefix, const char *tenant /* NULL: all */, unsigned limit, StoreJobEach each, void *userdata);

STORE_WRITE(store_attempt_put, store_put, attempt_table, JobAttempt); /* inserts or replaces */
int store_attempt_each(Store *s, const char *job, int (*each)(JobAttempt *row, void *userdata), void *userdata);
