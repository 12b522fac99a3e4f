/* control.h: shared by the files of the control plane of sandboxes: every handler that e2b_control_routes
 * names. */
#pragma once

#include "api/e2b/e2b.h"

/* sandboxes.c */
void e2b_sandbox_get(ApiRequest *q);
void e2b_sandbox_kill(ApiRequest *q);
void e2b_sandbox_timeout(ApiRequest *q);
void e2b_sandbox_refresh(ApiRequest *q);

/* create.c */
void e2b_sandbox_create(ApiRequest *q);
void e2b_sandbox_create_v2(ApiRequest *q);
void e2b_create_failed(ApiRequest *q, const Error *error); /* answers with the error of a failed create, fork etc. */
int e2b_create_timeout(ApiRequest *q, int64_t seconds, usec_t *ret); /* negative: has answered 400 */

/* pause.c */
void e2b_sandbox_pause(ApiRequest *q);
void e2b_sandbox_resume(ApiRequest *q);
void e2b_sandbox_connect(ApiRequest *q);
void e2b_sandbox_connect_v2(ApiRequest *q);

/* list.c */
void e2b_sandbox_list(ApiRequest *q);
void e2b_sandbox_list_v2(ApiRequest *q);

/* network.c */
void e2b_sandbox_network(ApiRequest *q);

/* metrics.c, logs.c */
void e2b_sandbox_metrics(ApiRequest *q);
void e2b_sandboxes_metrics(ApiRequest *q);
void e2b_sandbox_logs(ApiRequest *q);
void e2b_sandbox_logs_v2(ApiRequest *q);

/* snapshots.c, fork.c */
void e2b_sandbox_snapshot(ApiRequest *q);
void e2b_snapshot_list(ApiRequest *q);
void e2b_sandbox_fork(ApiRequest *q);

/* values.c: fields of JSON bodies. */
typedef enum E2bFlag { E2B_UNSAID, E2B_OFF, E2B_ON } E2bFlag;
int e2b_field_flag(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c);   /* E2bFlag */
int e2b_field_any(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c);    /* json_t *, a new reference */
int e2b_field_seconds(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c); /* int64_t; whole seconds, positive or negative */
int e2b_field_texts(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c);  /* {"k": "v"} as JSON text */
