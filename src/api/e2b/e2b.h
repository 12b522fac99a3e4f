/* e2b.h: the surface that speaks E2B's API, so that programs written with E2B's SDK run here unchanged.
 *
 * Four services share one listener. The address of a request selects the service (target.c):
 *
 *      control plane   /sandboxes, /v2/sandboxes, /templates, /volumes, /secrets, …      X-API-KEY: an ordinary key
 *      envd            "port 49983" of a sandbox: files, processes                       X-Access-Token: that sandbox's token, or a signature
 *      interpreter     "port 49999" of a sandbox: code that keeps its state              the same
 *      any other port  a port that is served inside: proxied (api/preview)
 *
 * envd and the interpreter are not programs in the sandbox: this surface answers for them, with the same
 * objects as every other surface. Tokens are derived from the daemon's key and the sandbox's id (token.c), so
 * they are the same after every restart and are not stored. Fields of a sandbox that exist in E2B's API but
 * not in the core (record.c) are one JSON text of the sandbox (SandboxSpec.dialect), which only this surface
 * reads.
 *
 *      target.c        finds sandbox and port by host name (host.c), headers or token; checks access
 *      proxy.c         ports that are served inside; errors in the format of E2B's proxy
 *      token.c         access tokens, traffic tokens, signatures of files
 *      connect/        Connect-RPC (connect.h), messages in proto/
 *      envd/           process*.c: process.Process; filesystem*.c: filesystem.Filesystem; files*.c: /files, multipart; envd*.c: the rest, users and paths
 *      sandbox/        the control plane; record.c: options from a sandbox's creation, and their JSON; wake.c: resumes a paused sandbox first
 *      template/, volume/, secrets.c, teams.c, keys.c   the rest of the API
 *      interpreter.c   the protocol of port 49999 over src/context
 *
 * Must not know: namespaces, SQL, the formats of the native surface. */
#pragma once

#include "api/surface.h"
#include "config/config.h"

#define E2B_ENVD_PORT        49983
#define E2B_INTERPRETER_PORT 49999
#define E2B_ENVD_VERSION     "0.6.13"
#define E2B_CLIENT_ID        "6532622b" /* clients expect the field, but do not use it */
#define E2B_TOKEN_MAX        96

extern const ApiSurface e2b_surface;

/* Tables of routes; each ends with a line without a method. */
/* Routes of the surface itself: the control plane. */
extern const ApiRoute e2b_control_routes[], e2b_template_routes[], e2b_volume_routes[], e2b_secret_routes[], e2b_team_routes[];
/* Only for requests to a target. */
extern const ApiRoute e2b_envd_routes[], e2b_interpreter_routes[];

/* Answers {"code": status, "message": …}, the format of errors of the control plane and of envd's plain HTTP.
 * Never returns 0, so that a handler can `return e2b_error(…)`. */
int e2b_error(ApiRequest *q, unsigned status, const char *format, ...) _printf_(3, 4);
int e2b_errno(ApiRequest *q, int r, const char *text); /* by the table of api_errno(), in that format */
int e2b_empty(ApiRequest *q, unsigned status);         /* an explicitly empty body: 204, or Content-Length: 0 */
int e2b_done(ApiRequest *q, int r, const char *text);  /* 204, or an error */
/* 0: no complaint; else has answered: by errno, or 400 with the first complaint. */
int e2b_judge(ApiRequest *q, int r, const JsonComplaints *c);
/* Reads the collected body by the shape. Unknown fields are ignored, because SDKs add new ones. Negative: has
 * answered 400. */
int e2b_read(ApiRequest *q, const Shape *shape, void *target);
/* For a body with only one field. */
int e2b_read_field(ApiRequest *q, const char *name, unsigned flags, const ShapeJson *json, void *target);
/* A time of the query in whole seconds; `value` keeps the default without one. Negative: has answered 400. */
int e2b_read_second(ApiRequest *q, const char *name, usec_t *value);

/* Settings of every route of this surface. */
int e2b_refuse(ApiRequest *q, unsigned status, const char *message);
bool e2b_enabled(const Manager *m);
#define E2B_ROUTE .refuse = e2b_refuse, .served = e2b_enabled
#define E2B_BODY_MAX ((size_t) 4 << 20)
#define E2B_JSON .body = HTTP_BODY_COLLECT, .body_max = E2B_BODY_MAX

/* record.c */
typedef struct E2bRecord {
        char *template_id;      /* as requested: "base", "name:tag" */
        bool secure;            /* envd requires the token */
        bool private_traffic;   /* network.allowPublicTraffic: false */
        bool auto_resume;       /* traffic resumes the sandbox */
        bool pause_disk_only;   /* autoPauseMemory: false */
        bool no_internet;       /* allow_internet_access: false */
        char *mask_host;        /* network.maskRequestHost; NULL: none */
        json_t *network;        /* as received, without passwords; NULL: none */
} E2bRecord;

void e2b_record_done(E2bRecord *r);
/* Parsed once, owned by the sandbox. Defaults for a sandbox of another surface. NULL: out of memory. */
const E2bRecord *e2b_record(const Sandbox *sb);
/* Also writes the store. Pointers from e2b_record() become invalid. */
int e2b_record_write(Sandbox *sb, const E2bRecord *r);
char *e2b_record_print(const E2bRecord *r);             /* for a spec; the caller frees. NULL: out of memory */

/* The state of a sandbox as this API shows it. */
bool e2b_is_paused(const Sandbox *sb);   /* or stopped: it does not answer */
usec_t e2b_started_at(const Sandbox *sb); /* wall clock; reset by a resume */
usec_t e2b_end_at(const Sandbox *sb);    /* if paused: since when; 0: never ends */

json_t *e2b_sandbox_json(const Sandbox *sb, const Api *api);        /* "Sandbox": the answer of create, connect, fork */
json_t *e2b_listed_json(const Sandbox *sb, const Api *api);         /* "ListedSandbox" */
/* "SandboxDetail"; contains access tokens only if `who` may use the sandbox. */
json_t *e2b_detail_json(const Sandbox *sb, const Api *api, const Principal *who);
/* The caller's sandbox, of any surface, that has not ended. NULL: has answered 404. */
Sandbox *e2b_find_sandbox(ApiRequest *q, const char *id);

/* token.c: "<id>_<48 hexadecimal digits>", so that a token alone identifies the sandbox. */
void e2b_access_token(const Api *api, const char *id, char ret[static E2B_TOKEN_MAX]);
void e2b_traffic_token(const Api *api, const char *id, char ret[static E2B_TOKEN_MAX]);
bool e2b_token_matches(const char *given, const char *wanted); /* in constant time; given may be NULL */
/* Gets the id from a well-formed token, without checking it. */
bool e2b_token_is_of(const char *token, char ret_id[static SANDBOX_ID_LENGTH + 1]);
/* "v1_…" over path, operation ("read", "write"), user and token; expires NULL: does not expire. */
int e2b_file_signature(const char *path, const char *operation, const char *user, const char *token, const char *expires, char **ret);

/* target.c */
/* 1: for a sandbox; 0: not; negative: has been answered (400, as E2B's proxy does; 401: a signature without a
 * sandbox). */
int e2b_target_find(ApiRequest *q, ApiTarget *ret);
/* Sets q->route, q->who and the subject of the call, or answers (502, 403, …); returns 0, or a negative value
 * if it was answered. q->sandbox is set when the handler is called; a paused sandbox that may be woken is
 * woken first (wake.c). */
int e2b_target_admit(ApiRequest *q, const ApiTarget *t);
bool e2b_target_passes_on(const ApiTarget *t);

/* envd/files-auth.c: access to a file by a signature instead of the sandbox's token; sets q->who. Negative:
 * has been answered. */
#define E2B_FILES "/files"
int e2b_files_identify(ApiRequest *q, const Sandbox *sb);

/* surface.c: the routes of the two ports that this surface serves. */
extern const ApiRoute *const e2b_envd_tables[], *const e2b_interpreter_tables[];

/* proxy.c: answers {"sandboxId", "message", "port", "code"}, as E2B's proxy does; port 0: none. A browser
 * gets a page. */
int e2b_proxy_answer(ApiRequest *q, unsigned status, json_t *body); /* takes the body */
int e2b_proxy_refuse(ApiRequest *q, unsigned status, const char *id, uint16_t port, const char *message);
int e2b_proxy_missing(ApiRequest *q, const char *id); /* 502: no such sandbox, or it is not running */
/* A port that a server in the sandbox listens on. */
int e2b_proxy_admit(ApiRequest *q, const ApiTarget *t, const E2bRecord *record);

/* wake.c: ApiRequest.prepare of all requests for a sandbox. */
int e2b_wake(ApiRequest *q);
/* Whether it can handle a request now (is_awake), or after being woken (may_wake). */
bool e2b_is_awake(const Sandbox *sb);
bool e2b_may_wake(const Sandbox *sb, const E2bRecord *record);

/* templates-resolve.c: resolves a templateID: "base", an alias, "name", "name:tag", "team/name:tag", or the
 * id or name of a snapshot. */
typedef struct E2bTemplate {
        char *name;               /* the core's name; NULL: it is a snapshot */
        struct Snapshot *snapshot; /* borrowed until the loop turns */
        uint32_t cpu_milli;       /* of its sandboxes, as set by its build; 0: not set */
        uint64_t memory_bytes;
} E2bTemplate;
void e2b_template_done(E2bTemplate *t);
/* 0; -ENOENT: has answered 404 "template 'x' not found"; after other errors it has answered too. */
int e2b_template_resolve(ApiRequest *q, const char *template_id, E2bTemplate *ret);

/* snapshots.c: DELETE /templates/{id} of a snapshot. 0: it is one, and is answered (now or later). -ENOENT:
 * it is not; nothing was answered. */
int e2b_snapshot_delete(ApiRequest *q, const char *template_id);
/* By "id", "id:default", "name", "team/name:default"; NULL: not found. */
struct Snapshot *e2b_snapshot_find(ApiRequest *q, const char *template_id);

/* network-policy.c: converts network options to our policy. json: {allowOut, denyOut, rules, …}; NULL: none.
 * ret: the JSON of a policy for api/policy.h. */
int e2b_network_policy(const json_t *network, E2bInternet internet, json_t **ret, Error *reterr);
