/* rows.h: rows of agent executions.
 *
 * As core/store.h: rows in, rows out, each function one transaction unless store_begin() was called, the same errors.
 * Must not know: what the fields mean. */
#pragma once

#include "agent/agent.h"
#include "core/store.h"

int store_job_insert(Store *s, Job *j); /* sets its serial. -EEXIST: the idempotency key is taken */
int store_job_update(Store *s, const Job *j); /* what has become of it. -ENOENT */
int store_job_delete(Store *s, const char *id); /* with its attempts */

/* -ENOENT. The caller frees with job_done(). */
int store_job_get(Store *s, const char *id, Job *ret);
int store_job_get_by_key(Store *s, const char *tenant, const char *key, Job *ret);

/* The row is the callee's to take from; return < 0 to stop. */
typedef int (*StoreJobEach)(Job *row, void *userdata);
/* The newest first. Where no index leads to what is wanted, only so many rows are looked at: ret_next is the serial to go on from, with
 * which there may be more; 0: there is not. */
int store_job_each(Store *s, const JobFilter *filter, StoreJobEach each, void *userdata, uint64_t *ret_next);
/* Those that have not ended, in order: serial, id, tenant, profile, priority and what the queue goes by; the rest is empty. */
int store_job_each_open(Store *s, StoreJobEach each, void *userdata);
/* Whose webhook is still to be told: the id only. */
int store_job_each_untold(Store *s, StoreJobEach each, void *userdata);

int store_job_count_dead(Store *s, const char *tenant /* NULL: all */, uint64_t *ret);
/* Those that ended before; the id only, the oldest first. */
int store_job_each_expired(Store *s, usec_t before, unsigned limit, StoreJobEach each, void *userdata);

int store_attempt_put(Store *s, const JobAttempt *a); /* made, or changed */
int store_attempt_each(Store *s, const char *job, int (*each)(JobAttempt *row, void *userdata), void *userdata);
