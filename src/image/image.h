/* image.h: templates: named starting points of sandboxes.
 *
 * A template is a name and tag of a tenant (or, with the tenant "", of all tenants) that point to an image: a
 * digest with a configuration and a root directory. The root directory is a layer tree (pulled, imported, or
 * built on one), or the host's with a snapshot as the initial disk (built on "host"). Layer trees are named
 * by their chain id, as in OCI: sha256(parent chain + " " + diff id). So each layer is unpacked only once for
 * all images that have it, on a copy of its parent.
 *
 * A *making* is one long job on a template: pull, import, build, commit, push. It has an id, a status,
 * progress, a log that can be read from any byte and followed, and an end that is reported once. Makings do
 * not survive the daemon: after a restart the unfinished ones are failed ("interrupted"), their leftovers are
 * swept, and a repeated job reuses finished layers and blobs.
 *
 * A layer is in use if a template, a sandbox, a snapshot, a build step in the cache or a running making names
 * it. gc removes the others: it marks the row, removes the tree and then the row, so that an interrupted
 * removal is continued. The same holds for blobs (DIR/blobs).
 * May use: core, trees.h, config, json.
 * Must not know: HTTP, SQL, btrfs, tar, registry protocols. */
#pragma once

#include "base/sequence.h"
#include "core/manager.h"
#include "core/spool.h"
#include "core/template.h"
#include "core/trees.h"

typedef struct Images Images;
#define IMAGE_STRINGS_MAX 1024 /* environment variables, arguments or labels of one image */

typedef struct Making Making;

typedef enum MakingKind { MAKING_PULL, MAKING_IMPORT, MAKING_BUILD, MAKING_COMMIT, MAKING_PUSH, MAKING_GC, _MAKING_KIND_MAX } MakingKind;
typedef enum MakingStatus { MAKING_RUNNING, MAKING_DONE, MAKING_FAILED, MAKING_CANCELLED, _MAKING_STATUS_MAX } MakingStatus;

typedef struct ImageConfig { /* the parts of an OCI configuration that cove uses */
        Strv env;
        char *workdir, *user; /* user as written; uid, gid, home: resolved when the image was made */
        uint32_t uid, gid;
        char *home;
        Strv entrypoint, cmd, exposed, labels /* "k=v" */;
        char *start_command, *ready_command; /* from a YAML recipe; NULL: none */
} ImageConfig;
void image_config_done(ImageConfig *c);
/* Sets the limits of the lists in `to`, so that they can grow. A copy of an empty configuration initializes
 * one. */
int image_config_copy(const ImageConfig *from, ImageConfig *to);

typedef struct Image {
        /* "sha256:" and hex: of the manifest if the image was fetched or imported, of its description
         * (image_digest()) if it was made here */
        char digest[72];
        char layer[TREE_NAME_MAX + 1]; /* "": `base` is used */
        char *base;       /* "host" or a --template, if there is no layer */
        char *snapshot;   /* tree of the initial disk; NULL: none */
        ImageConfig config;
        char *source;     /* for display: "docker.io/library/python:3.12", "Dockerfile", "import" */
        char *layers;     /* JSON: [{digest, diffId, chain, size, mediaType}], from the bottom up, for push */
        char *config_digest; /* of the configuration blob; NULL: none yet */
        uint64_t bytes;   /* unpacked */
        usec_t created_at;
} Image;
void image_done(Image *image);

/* Registers itself as the manager's template keeper, reads the store and sweeps. */
int images_new(Manager *m, Images **ret, Error *reterr);
Images *images_free(Images *i);

/* Queries for the surfaces. All results are borrowed until the loop turns. */
typedef struct TemplateInfo {
        const char *tenant; /* "": all tenants */
        const char *name, *tag;
        usec_t updated_at;
        const Image *image;
        uint64_t bytes;        /* of its layers, unpacked */
        uint64_t shared_bytes; /* the part of it that other images share */
        const char *problem;   /* why it cannot be used now, and the remedy; NULL: it can */
} TemplateInfo;
/* In the order of names. tenant: its own templates and the shared ones; NULL: all. A negative return of
 * `each` ends the walk. */
int images_each(Images *i, const char *tenant, int (*each)(const TemplateInfo *info, void *userdata), void *userdata);
/* NAME[:TAG], or a unique digest prefix of at least twelve digits. -ENOENT: the error names similar ones;
 * -EINVAL: not a valid name; -EEXIST: the prefix is not unique. */
int images_get_info(Images *i, const char *tenant, const char *name, TemplateInfo *ret, Error *reterr);
/* Removes the name; the next gc removes the image. -EPERM: the template is shared by all tenants. */
int images_remove(Images *i, const char *tenant, const char *name, Error *reterr);
/* Whether templates can be stored at all. -EOPNOTSUPP with the reason and the remedy. */
int images_check_depot(Images *i, Error *reterr);

/* Long jobs; each returns a running making. auth: "user:password" or "bearer TOKEN"; NULL: none. */
typedef struct ImagePull {
        const char *reference;
        const char *name;     /* NULL: its name in the registry */
        const char *platform; /* NULL: this machine's */
        const char *auth;
} ImagePull;
int images_pull(Images *i, const Principal *who, const ImagePull *pull, Making **ret, Error *reterr);
int images_import(Images *i, const Principal *who, const char *name, Spool *archive /* a tar; takes a reference */, Making **ret, Error *reterr);
int images_push(Images *i, const Principal *who, const char *name, const char *reference, const char *auth, Making **ret, Error *reterr);
int images_commit(Images *i, const Principal *who, Sandbox *sb, const char *name, Making **ret, Error *reterr);
int images_gc(Images *i, const Principal *who, Making **ret, Error *reterr); /* who NULL: started by the timer */

/* What gc would remove now. */
typedef struct ImagesWaste {
        unsigned images, layers, snapshots, cache, blobs;
        uint64_t bytes, blob_bytes;
} ImagesWaste;
typedef void (*ImagesWasteItem)(const char *kind /* image, layer, cache, blob */, const char *name, uint64_t bytes, void *userdata);
int images_waste(Images *i, ImagesWasteItem item, void *userdata, ImagesWaste *ret);

typedef struct ImagesStats {
        unsigned templates, images, layers, cache, makings; /* makings: running */
        uint64_t layer_bytes, blob_bytes;
} ImagesStats;
void images_stats(Images *i, ImagesStats *ret);
/* Called once by images_observe() with NULL, and for each making that has ended. */
typedef void (*ImagesObserver)(Images *i, const Making *ended, void *userdata);
void images_observe(Images *i, ImagesObserver observer, void *userdata);

/* Makings: the part that all kinds share. */
extern const ShapeNames making_kind_names, making_status_names;
const char *making_kind_name(int kind);
int making_kind_from_name(const char *name); /* -EINVAL; also making_status_from_name() */
const char *making_status_name(int status);
int making_status_from_name(const char *name);

typedef struct MakingInfo { /* borrowed until the loop turns */
        const char *id, *tenant, *name, *error, *stage, *digest;
        int kind, status, error_code;
        uint64_t done, total, log_bytes;
        usec_t created_at, ended_at;
} MakingInfo;
void making_info(const Making *k, MakingInfo *ret);
const char *making_tenant(const Making *k); /* "": none */
int makings_each(Images *i, const char *tenant /* NULL: all */, int (*each)(Making *k, void *userdata), void *userdata); /* the newest first */
int making_open_log(const Making *k); /* the caller closes */

/* `changed` is called when the log grows, on progress and at the end, but not after the end. */
typedef struct MakingWatch {
        void (*changed)(Making *k, void *userdata);
        void *userdata;
        Making *making;
        struct MakingWatch *prev, *next;
} MakingWatch;
void making_watch(Making *k, MakingWatch *watch);
void making_unwatch(MakingWatch *watch); /* may be called without making_watch() */

int making_new(Images *i, const Principal *who, MakingKind kind, const char *template_name /* NAME[:TAG] */, Making **ret, Error *reterr);
const char *making_id(const Making *k);
void making_log(Making *k, const char *format, ...) __attribute__((format(printf, 2, 3))); /* adds a line to its log */
void making_log_bytes(Making *k, const void *data, size_t size);
void making_progress(Making *k, const char *stage, uint64_t done, uint64_t total);
bool making_is_cancelled(const Making *k);
void making_end(Making *k, const Image *image /* the result; may be NULL */, const Error *error);
Making *making_find(Images *i, const Principal *who, const char *id);
void making_cancel(Making *k);

/* A sequence that works for a making. It is the first member of the object that its steps get. A step may
 * start another sequence, as a build does to fetch its base: such a step has no cancel and waits for the end
 * of the inner sequence. Cancelling the making cancels all of them. */
typedef struct MakingWork {
        SequenceRun run;
        Images *images;
        Making *making;                  /* NULL: not part of a making; it works for its waiters */
        TreeCall *call;                  /* that the step waits for */
        char scratch[TREE_NAME_MAX + 1]; /* a scratch tree that it has made; "": none */
        sd_event_source *deferred;
        void (*release)(void *work); /* frees its memory when the daemon ends */
        const char *cancelled;       /* the error after a cancel; NULL: a default text */
        struct MakingWork *prev, *next;
} MakingWork;
/* As sequence_start(): after a failure the caller owns the work. The caller sets images, making and release. */
int making_work_start(MakingWork *w, const Sequence *sequence, Error *reterr);
/* Call it at the end, or for a work that was never started. A pending call is forgotten, and its answer
 * dropped. */
void making_work_done(MakingWork *w);
/* For tables: Sequence.defer; SequenceStep.cancel of a step that runs cove-tree; SequenceStep.undo of a step
 * that makes a scratch. */
void making_work_defer(void *work);
void making_work_cancel_run(void *work);
int making_work_drop_scratch(void *work, Error *why);
/* Callback for the end of a tree call. */
void making_work_on_tree(const TreeAnswer *answer, const Error *error, void *work);
/* Steps: make a scratch tree, empty (from NULL) or a copy; publish it, which moves it away. An existing layer
 * of that name counts as success. tenant: its disk quota pays. */
int making_work_make_scratch(MakingWork *w, const char *tenant, const TreeRef *from, Error *reterr);
int making_work_publish(MakingWork *w, TreeKind kind, const char *name, Error *reterr);
static inline int making_work_waits(int r) { /* the result of a step whose call was started and answers later */
        return r < 0 ? r : STEP_WAITS;
}

/* For build/ and the surfaces. Each calls `done` exactly once. */
typedef void (*ImageDone)(const Image *image, const Error *error, void *userdata);

/* By digest or NAME[:TAG]; NULL: not found. Borrowed until the loop turns. */
const Image *images_find(Images *i, const char *tenant, const char *name);
/* For FROM: the existing image, or a pull that logs to this making. auth: as of a pull. */
int images_get(Images *i, Making *k, const char *reference, const char *auth, ImageDone done, void *userdata, Error *reterr);
/* Takes the image's contents; its layer or snapshot tree must exist. Points NAME:TAG at it, in one
 * transaction. */
int images_put(Images *i, const char *tenant, const char *name_and_tag, Image *image, Error *reterr);
/* Adds a name to an existing image. -ENOENT: no such image. */
int images_tag(Images *i, const char *tenant, const char *name_and_tag, const char *digest, Error *reterr);
/* Makes a layer from the changes of a persistent sandbox that stands on a layer: copies the parent, flattens,
 * publishes. chain: the layer's name, chosen by the caller (hex). */
int images_flatten(Images *i, Making *k, const char *parent_layer, TreeKind disk_kind, const char *disk_name, const char *chain, ImageDone done, void *userdata, Error *reterr);

/* Call it before a disk is published as TREE_SNAPSHOT for an image or a step. It writes a row, and the
 * snapshot will be removed unless images_put() or images_cache_put() takes it over. Disown it if publishing
 * has failed: the tree may or may not exist then. */
int images_snapshot_announce(Images *i, const char *name);
void images_snapshot_disown(Images *i, const char *name);

/* The cache of build steps: key (hex SHA-256 over what goes in) → a snapshot tree. */
int images_cache_get(Images *i, const char *tenant, const char *key, char ret_snapshot[TREE_NAME_MAX + 1]); /* 1 if found, else 0 */
int images_cache_put(Images *i, const char *tenant, const char *key, const char *snapshot); /* takes the snapshot over */
