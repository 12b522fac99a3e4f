/* native.h: the native surface: what its files share, and every handler that its route table names.
 *
 * The table is in routes.c. A handler reads: parse, ask the object, answer; rights, {id} and {eid} are settled before it.
 * Must not know: libmicrohttpd, how sandboxes are made. */
#pragma once

#include "api/surface.h"

extern const ApiSurface native_surface;
extern const ApiRoute *const native_tables[];
extern const ApiRoute native_routes[];

/* What a JSON body may have at most; what streams has no ceiling of its own. */
#define NATIVE_BODY_MAX  ((size_t) 4 << 20)
#define NATIVE_STDIN_MAX ((size_t) 16 << 20) /* of one request */

/* create.c, list.c, sandbox.c */
void native_sandbox_create(ApiRequest *q);
void native_sandbox_list(ApiRequest *q);
void native_sandbox_stats(ApiRequest *q);
void native_sandbox_get(ApiRequest *q);
void native_sandbox_delete(ApiRequest *q);
void native_sandbox_resources(ApiRequest *q);

/* profiles.c */
void native_profile_list(ApiRequest *q);
void native_profile_get(ApiRequest *q);

/* volumes.c */
void native_volume_list(ApiRequest *q);
void native_volume_make(ApiRequest *q);
void native_volume_get(ApiRequest *q);
void native_volume_delete(ApiRequest *q);
extern const Shape native_volume_shape;

/* snapshots.c, fork.c */
void native_snapshot_take(ApiRequest *q);
void native_snapshot_list(ApiRequest *q);
void native_snapshot_get(ApiRequest *q);
void native_snapshot_delete(ApiRequest *q);
void native_snapshot_verify(ApiRequest *q);
void native_sandbox_restore(ApiRequest *q);
void native_sandbox_fork(ApiRequest *q);
void native_snapshot_fork(ApiRequest *q);
extern const Shape native_snapshot_shape, native_fork_shape, native_restore_shape, native_pause_shape;

/* contexts.c */
void native_context_list(ApiRequest *q);
void native_context_create(ApiRequest *q);
void native_context_get(ApiRequest *q);
void native_context_delete(ApiRequest *q);
void native_context_restart(ApiRequest *q);
void native_context_interrupt(ApiRequest *q);
void native_context_run(ApiRequest *q);
extern const Shape native_context_shape, native_code_shape;

/* changes.c */
void native_changes(ApiRequest *q);
void native_changes_tar(ApiRequest *q);

/* recording.c */
void native_recording(ApiRequest *q);
void native_recording_content(ApiRequest *q);

/* lifecycle.c */
void native_sandbox_start(ApiRequest *q);
void native_sandbox_stop(ApiRequest *q);
void native_sandbox_pause(ApiRequest *q);
void native_sandbox_resume(ApiRequest *q);
void native_sandbox_timeout(ApiRequest *q);

/* agents.c, agents-list.c */
void native_agent_execute(ApiRequest *q);
void native_agent_list(ApiRequest *q);
void native_agent_get(ApiRequest *q);
void native_agent_logs(ApiRequest *q);
void native_agent_cancel(ApiRequest *q);
void native_agent_retry(ApiRequest *q);
void native_agent_delete(ApiRequest *q);
void native_agent_queue(ApiRequest *q);
extern const Shape native_agent_shape;

/* logs.c */
void native_sandbox_logs(ApiRequest *q);

/* pool.c */
void native_pool_get(ApiRequest *q);
void native_pool_drain(ApiRequest *q);

/* keys.c, tenants.c, info.c */
void native_key_create(ApiRequest *q);
void native_key_list(ApiRequest *q);
void native_key_delete(ApiRequest *q);
void native_tenant_put(ApiRequest *q);
void native_tenant_list(ApiRequest *q);
void native_tenant_get(ApiRequest *q);
void native_tenant_delete(ApiRequest *q);
void native_healthz(ApiRequest *q);
void native_version(ApiRequest *q);
void native_config_get(ApiRequest *q);
void native_config_reload(ApiRequest *q);
void native_openapi(ApiRequest *q);

/* secrets.c */
void native_secret_put(ApiRequest *q);
void native_secret_get(ApiRequest *q);
void native_secret_list(ApiRequest *q);
void native_secret_delete(ApiRequest *q);
void native_secret_delete_all(ApiRequest *q);
/* 422 with every variable whose secret is missing; of both environments, the second over the first, which may be NULL. */
int native_secrets_missing(ApiRequest *q, const char *tenant, const Strv *below, const Strv *env, const char *message);

/* network.c */
void native_policy_get(ApiRequest *q);
void native_policy_put(ApiRequest *q);
void native_policy_check(ApiRequest *q);
void native_policy_explain(ApiRequest *q);
void native_network_denials(ApiRequest *q);
void native_network_learned(ApiRequest *q);
void native_approval_list(ApiRequest *q);
void native_approval_answer(ApiRequest *q);
extern const Shape native_policy_shape;
extern const Shape native_approval_shape;

/* artifacts.c */
struct Artifact;
json_t *native_artifact_json(const struct Artifact *a);
void native_artifact_list(ApiRequest *q);
void native_artifact_stats(ApiRequest *q);
void native_artifact_get(ApiRequest *q);
void native_artifact_info(ApiRequest *q);
void native_artifact_delete(ApiRequest *q);

/* telemetry.c */
void native_telemetry(ApiRequest *q);
/* cleanup.c, diagnosis.c */
void native_cleanup(ApiRequest *q);
void native_cleanup_emergency(ApiRequest *q);
void native_cleanup_status(ApiRequest *q);
void native_reconcile(ApiRequest *q);
void native_audit(ApiRequest *q);
void native_diagnosis(ApiRequest *q);
void native_sandbox_health(ApiRequest *q);

/* audit.c */
void native_audit_list(ApiRequest *q);
void native_audit_verify(ApiRequest *q);
/* metrics.c */
bool native_metrics_opened(const Manager *m);
void native_prometheus(ApiRequest *q);
void native_health(ApiRequest *q);
void native_metrics(ApiRequest *q);
void native_metrics_history(ApiRequest *q);
void native_cost(ApiRequest *q);
void native_recommendations(ApiRequest *q);

/* Executions. _data takes the pieces of a streamed body: how many bytes it wants now, 0 to be asked again after
 * http_request_continue(), negative when it has answered. At the end of the body it is called once with size 0. */
void native_exec(ApiRequest *q);
void native_exec_list(ApiRequest *q);
void native_exec_get(ApiRequest *q);
void native_exec_output(ApiRequest *q);
void native_exec_stdin(ApiRequest *q);
ssize_t native_exec_stdin_data(ApiRequest *q, const void *data, size_t size);
void native_exec_stdin_close(ApiRequest *q);
void native_exec_signal(ApiRequest *q);
void native_exec_resize(ApiRequest *q);
void native_exec_wait(ApiRequest *q);
void native_exec_attach(ApiRequest *q);
void native_terminal(ApiRequest *q);

/* Files. */
void native_file_read(ApiRequest *q); /* GET and HEAD */
void native_file_write(ApiRequest *q);
ssize_t native_file_write_data(ApiRequest *q, const void *data, size_t size);
void native_file_delete(ApiRequest *q);
void native_file_list(ApiRequest *q);
void native_file_stat(ApiRequest *q);
void native_file_mkdir(ApiRequest *q);
void native_file_move(ApiRequest *q);
void native_file_copy(ApiRequest *q);
void native_file_chmod(ApiRequest *q);
void native_archive_get(ApiRequest *q);
void native_archive_put(ApiRequest *q);
ssize_t native_archive_put_data(ApiRequest *q, const void *data, size_t size);
void native_file_watch(ApiRequest *q);

/* Bodies: a table and its length (ELEMENTSOF), defined beside the handler that reads by it with api_read(). */
extern const Shape native_sandbox_shape;
extern const Shape native_stop_shape;
extern const Shape native_timeout_shape;
extern const Shape native_key_shape;
extern const Shape native_secret_shape;
extern const Shape native_tenant_shape;

extern const Shape native_exec_shape;
extern const Shape native_signal_shape;
extern const Shape native_resize_shape;
extern const Shape native_mkdir_shape;
extern const Shape native_move_shape;
extern const Shape native_copy_shape;
extern const Shape native_chmod_shape;

/* previews.c */
void native_sandbox_ports(ApiRequest *q);
void native_sandbox_url(ApiRequest *q);
void native_sandbox_url_set(ApiRequest *q);
extern const Shape native_preview_shape;

/* build.c */
void native_template_build(ApiRequest *q);
void native_recipe_list(ApiRequest *q);

/* templates.c, templates-gc.c, makings.c */
void native_template_list(ApiRequest *q);
void native_template_get(ApiRequest *q);
void native_template_delete(ApiRequest *q);
void native_template_pull(ApiRequest *q);
void native_template_push(ApiRequest *q);
void native_template_import(ApiRequest *q);
void native_template_gc(ApiRequest *q);
void native_template_stats(ApiRequest *q);
void native_sandbox_commit(ApiRequest *q);
void native_making_list(ApiRequest *q);
void native_making_get(ApiRequest *q);
void native_making_log(ApiRequest *q);
void native_making_cancel(ApiRequest *q);
extern const Shape native_template_pull_shape;
extern const Shape native_template_push_shape;
extern const Shape native_template_gc_shape;
extern const Shape native_commit_shape;
