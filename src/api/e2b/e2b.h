/* e2b.h: the surface that speaks E2B's dialect, so that programs written with E2B's SDK run here unchanged.
 *
 * Three services behind one listener, told apart by where a request says that it goes (target.c):
 *
 *      control plane   /sandboxes, /v2/sandboxes, /templates, /volumes, /secrets, …      X-API-KEY: an ordinary key
 *      envd            "port 49983" of a sandbox: files, processes                       X-Access-Token: that sandbox's token, or a signature
 *      interpreter     "port 49999" of a sandbox: code that keeps its state              likewise
 *      anything else   a port that is served inside: proxied (api/preview)
 *
 * envd and the interpreter are no programs inside: this surface answers for them, with the same objects as every other surface has. Tokens are derived from the
 * daemon's key and the sandbox's id (token.c), so that they are the same after every restart and stored nowhere. What the dialect knows of a sandbox and the
 * core does not (record.c) is one JSON text of the sandbox (SandboxSpec.dialect), which nobody else reads.
 *
 *      target.c        which sandbox and port, by host name (host.c), headers or token; who may
 *      proxy.c         ports that are served inside; what E2B's proxy says when it cannot
 *      token.c         access tokens, traffic tokens, signatures of files
 *      connect/        Connect-RPC (connect.h), messages in proto/
 *      envd/           process*.c: process.Process; filesystem*.c: filesystem.Filesystem; files*.c: /files, multipart; envd*.c: the rest, users and paths
 *      sandbox/        the control plane; record.c: what was said at a sandbox's creation, and the dialect's own JSON for it; wake.c: one that is paused goes on first
 *      template/, volume/, secrets.c, teams.c, keys.c   what else there is of it
 *      interpreter.c   the protocol of port 49999 over src/context
 *
 * Must not know: namespaces, SQL, how the native surface looks. */
#pragma once

#include "api/surface.h"
#include "config/config.h"

#define E2B_ENVD_PORT        49983
#define E2B_INTERPRETER_PORT 49999
#define E2B_ENVD_VERSION     "0.6.13"
#define E2B_CLIENT_ID        "6532622b" /* what programs expect to be there, and nothing uses */
#define E2B_TOKEN_MAX        96

extern const ApiSurface e2b_surface;

/* Tables of routes; each ends with a line without method. */
extern const ApiRoute e2b_control_routes[], e2b_template_routes[], e2b_volume_routes[], e2b_secret_routes[], e2b_team_routes[]; /* of the surface: the control plane */
extern const ApiRoute e2b_envd_routes[], e2b_interpreter_routes[];                                           /* for a target only */

/* {"code": status, "message": …}: the shape of errors of the control plane and of envd's plain HTTP. Never 0, so that `return e2b_error(…)` reads as it should. */
int e2b_error(ApiRequest *q, unsigned status, const char *format, ...) _printf_(3, 4);
int e2b_errno(ApiRequest *q, int r, const char *text); /* by the table of api_errno(), in that shape */
int e2b_empty(ApiRequest *q, unsigned status);         /* no body, and that is said: 204, or Content-Length: 0 */
int e2b_done(ApiRequest *q, int r, const char *text);  /* 204, or the errno */
int e2b_judge(ApiRequest *q, int r, const JsonComplaints *c); /* 0: nothing is wrong; else has answered: by the errno, or 400 with the first complaint */
/* The collected body by the fields; others are nobody's business: SDKs grow. Has answered (400) when it is negative. */
int e2b_read(ApiRequest *q, const Shape *shape, void *target);
int e2b_read_field(ApiRequest *q, const char *name, unsigned flags, const ShapeJson *json, void *target); /* of a body that has one only */

/* What every route of the dialect has. */
int e2b_refuse(ApiRequest *q, unsigned status, const char *message);
bool e2b_enabled(const Manager *m);
#define E2B_ROUTE .refuse = e2b_refuse, .served = e2b_enabled
#define E2B_BODY_MAX ((size_t) 4 << 20)
#define E2B_JSON .body = HTTP_BODY_COLLECT, .body_max = E2B_BODY_MAX

/* record.c */
typedef struct E2bRecord {
        char *template_id;      /* as it was asked for: "base", "name:tag" */
        bool secure;            /* envd wants the token */
        bool private_traffic;   /* network.allowPublicTraffic: false */
        bool auto_resume;       /* traffic wakes it */
        bool pause_disk_only;   /* autoPauseMemory: false */
        bool no_internet;       /* allow_internet_access: false */
        char *mask_host;        /* network.maskRequestHost; NULL: none */
        json_t *network;        /* as it was sent, without passwords; NULL: none */
} E2bRecord;

void e2b_record_done(E2bRecord *r);
const E2bRecord *e2b_record(const Sandbox *sb);         /* read once, and the sandbox's; of one that another surface has made: the defaults. NULL: out of memory */
int e2b_record_write(Sandbox *sb, const E2bRecord *r);  /* also to the store; what e2b_record() gave out is gone then */
char *e2b_record_print(const E2bRecord *r);             /* for a spec; the caller frees. NULL: out of memory */

/* A moment of the life that the dialect sees. */
bool e2b_is_paused(const Sandbox *sb);   /* or stopped: nothing of it answers */
usec_t e2b_started_at(const Sandbox *sb); /* wall clock; a resume sets it anew */
usec_t e2b_end_at(const Sandbox *sb);    /* paused: since when; 0: never ends */

json_t *e2b_sandbox_json(const Sandbox *sb, const Api *api);        /* "Sandbox": answer of create, connect, fork */
json_t *e2b_listed_json(const Sandbox *sb, const Api *api);         /* "ListedSandbox" */
json_t *e2b_detail_json(const Sandbox *sb, const Api *api, const Principal *who); /* "SandboxDetail"; what opens it only for those who may use it */
Sandbox *e2b_find_sandbox(ApiRequest *q, const char *id);           /* the caller's, of any surface, that has not ended; has answered 404 when NULL */

/* token.c: "<id>_<48 hexadecimal digits>", so that a token alone says whose it is. */
void e2b_access_token(const Api *api, const char *id, char ret[static E2B_TOKEN_MAX]);
void e2b_traffic_token(const Api *api, const char *id, char ret[static E2B_TOKEN_MAX]);
bool e2b_token_matches(const char *given, const char *wanted); /* in constant time; given may be NULL */
bool e2b_token_is_of(const char *token, char ret_id[static SANDBOX_ID_LENGTH + 1]); /* whose it says that it is, if it has the form of one */
/* "v1_…" over path, operation ("read", "write"), user and token; expires NULL: never. */
int e2b_file_signature(const char *path, const char *operation, const char *user, const char *token, const char *expires, char **ret);

/* target.c */
/* 1: it is for a sandbox; 0: it is not; negative: has been answered (400, as E2B's proxy does; 401: a signature without a name). */
int e2b_target_find(ApiRequest *q, ApiTarget *ret);
/* Sends it on its way: sets q->route, q->who and whom it is about, or answers (502, 403, …); 0, or negative when it was answered. q->sandbox is set when the
 * handler is called: a sandbox that is paused and may be woken is, first (wake.c). */
int e2b_target_admit(ApiRequest *q, const ApiTarget *t);
bool e2b_target_passes_on(const ApiTarget *t);

/* envd/files-auth.c: who comes for a file without the sandbox's token has a signature, which q->who becomes; negative: has been answered. */
#define E2B_FILES "/files"
int e2b_files_identify(ApiRequest *q, const Sandbox *sb);

/* What stands behind the two ports that are ours: tables.c. */
extern const ApiRoute *const e2b_envd_tables[], *const e2b_interpreter_tables[];

/* proxy.c: {"sandboxId", "message", "port", "code"}, as E2B's proxy says it; port 0: none. A person's browser gets a page. */
int e2b_proxy_answer(ApiRequest *q, unsigned status, json_t *body); /* takes the body */
int e2b_proxy_refuse(ApiRequest *q, unsigned status, const char *id, uint16_t port, const char *message);
int e2b_proxy_missing(ApiRequest *q, const char *id); /* 502: there is no such sandbox, or it does not run */
int e2b_proxy_admit(ApiRequest *q, const ApiTarget *t, const E2bRecord *record); /* a port that something inside listens on */

/* wake.c: ApiRequest.prepare of all that is for a sandbox. */
int e2b_wake(ApiRequest *q);
/* Whether it can be asked something now, or after it was woken. */
bool e2b_is_awake(const Sandbox *sb);
bool e2b_may_wake(const Sandbox *sb, const E2bRecord *record);

/* templates-resolve.c: what a templateID is: "base", an alias, "name", "name:tag", "team/name:tag", or a snapshot's id or name. */
typedef struct E2bTemplate {
        char *name;               /* as the core calls it; NULL: it is a snapshot */
        struct Snapshot *snapshot; /* borrowed until the loop turns */
        uint32_t cpu_milli;       /* of its sandboxes, as its build was told; 0: nothing was said */
        uint64_t memory_bytes;
} E2bTemplate;
void e2b_template_done(E2bTemplate *t);
/* 0; -ENOENT: has answered 404 "template 'x' not found"; other errors have been answered too. */
int e2b_template_resolve(ApiRequest *q, const char *template_id, E2bTemplate *ret);

/* snapshots.c: DELETE /templates/{id} of a snapshot. 0: it was one, and is answered (now or later). -ENOENT: it is none; nothing was answered. */
int e2b_snapshot_delete(ApiRequest *q, const char *template_id);
struct Snapshot *e2b_snapshot_find(ApiRequest *q, const char *template_id); /* by "id", "id:default", "name", "team/name:default"; NULL: none */

/* networks: what the dialect says of them, as our policy. json: {allowOut, denyOut, rules, …}; NULL: nothing was said. ret: a policy's JSON for api/policy.h. */
int e2b_network_policy(const json_t *network, E2bInternet internet, json_t **ret, Error *reterr);
