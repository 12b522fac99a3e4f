/* image.h: templates: what sandboxes start from, by name.
 *
 * A template is a name and tag of a tenant's (or everybody's: "") that point to an image: a digest with a configuration and a root directory. That is a layer tree
 * (pulled, imported, built on one), or the host's with a snapshot as the beginning of the disk (built on "host"). Layer trees are named by their chain id, as OCI
 * has it: sha256(parent chain + " " + diff id), so each is unpacked once, whatever number of images has it, and each stands on a copy of its parent.
 *
 * A *making* is one piece of long work on a template: pull, import, build, commit, push. It has an id, a status, a log that can be read from any byte and followed, progress, and
 * an end that is told once. Makings survive nothing: after a restart those under way are failed ("interrupted"), what they left is swept, and doing it again finds
 * finished layers and blobs where they are.
 *
 * In use is a layer that a template, a sandbox, a snapshot, a build step of the cache or a making under way names; gc removes the rest: row first marked, then tree, then row, so that a
 * death in between is gone on with. Blobs (DIR/blobs) likewise.
 * May use: core, trees.h, config, json. Must not know: HTTP, SQL, btrfs, tar, how registries speak. */
#pragma once

#include "base/sequence.h"
#include "core/manager.h"
#include "core/spool.h"
#include "core/template.h"
#include "core/trees.h"

typedef struct Images Images;
#define IMAGE_STRINGS_MAX 1024 /* variables, words, labels of one */

typedef struct Making Making;

typedef enum MakingKind { MAKING_PULL, MAKING_IMPORT, MAKING_BUILD, MAKING_COMMIT, MAKING_PUSH, MAKING_GC, _MAKING_KIND_MAX } MakingKind;
typedef enum MakingStatus { MAKING_RUNNING, MAKING_DONE, MAKING_FAILED, MAKING_CANCELLED, _MAKING_STATUS_MAX } MakingStatus;

typedef struct ImageConfig { /* what of an OCI configuration counts here */
        Strv env;
        char *workdir, *user; /* user as text; uid, gid, home: resolved when it was made */
        uint32_t uid, gid;
        char *home;
        Strv entrypoint, cmd, exposed, labels /* "k=v" */;
        char *start_command, *ready_command; /* of a YAML recipe; NULL: none */
} ImageConfig;
void image_config_done(ImageConfig *c);
int image_config_copy(const ImageConfig *from, ImageConfig *to); /* its lists can grow. Of an empty one: as one begins */

typedef struct Image {
        char digest[72];  /* "sha256:" and hex: of the manifest for what came from elsewhere, of its description for what was built here */
        char layer[TREE_NAME_MAX + 1]; /* "": base */
        char *base;       /* "host" or a --template, when there is no layer */
        char *snapshot;   /* tree of the disk's beginning; NULL: none */
        ImageConfig config;
        char *source;     /* for people: "docker.io/library/python:3.12", "Dockerfile", "import" */
        char *layers;     /* JSON: [{digest, diffId, chain, size, mediaType}], from the bottom up; what push needs */
        char *config_digest; /* of the blob with its configuration; NULL: none yet */
        uint64_t bytes;   /* unpacked */
        usec_t created_at;
} Image;
void image_done(Image *image);

int images_new(Manager *m, Images **ret, Error *reterr); /* hangs itself in as the manager's template keeper; reads the store; sweeps */
Images *images_free(Images *i);

/* What there is, for surfaces. All borrowed until the loop turns. */
typedef struct TemplateInfo {
        const char *tenant; /* "": everybody's */
        const char *name, *tag;
        usec_t updated_at;
        const Image *image;
        uint64_t bytes;        /* of its layers, unpacked */
        uint64_t shared_bytes; /* of those, what other images have too */
        const char *problem;   /* why it cannot be used now, and the cure; NULL: it can */
} TemplateInfo;
/* In order of names. tenant: whose are seen beside everybody's; NULL: all there are. each < 0 ends it. */
int images_each(Images *i, const char *tenant, int (*each)(const TemplateInfo *info, void *userdata), void *userdata);
/* NAME[:TAG], or a digest of at least twelve digits that only one has. -ENOENT names the nearest; -EINVAL: it cannot be a name; -EEXIST: several have it. */
int images_get_info(Images *i, const char *tenant, const char *name, TemplateInfo *ret, Error *reterr);
int images_remove(Images *i, const char *tenant, const char *name, Error *reterr); /* the name; the image goes with the next gc. -EPERM: everybody's */
/* Whether templates can be kept at all. -EOPNOTSUPP: with the reason and the cure. */
int images_check_depot(Images *i, Error *reterr);

/* Long work; each is a making that runs. auth: "user:password" or "bearer TOKEN"; NULL: none. */
typedef struct ImagePull {
        const char *reference;
        const char *name;     /* NULL: as it is called there */
        const char *platform; /* NULL: this machine's */
        const char *auth;
} ImagePull;
int images_pull(Images *i, const Principal *who, const ImagePull *pull, Making **ret, Error *reterr);
int images_import(Images *i, const Principal *who, const char *name, Spool *archive /* a tar; a reference is taken */, Making **ret, Error *reterr);
int images_push(Images *i, const Principal *who, const char *name, const char *reference, const char *auth, Making **ret, Error *reterr);
int images_commit(Images *i, const Principal *who, Sandbox *sb, const char *name, Making **ret, Error *reterr);
int images_gc(Images *i, const Principal *who, Making **ret, Error *reterr); /* who NULL: the timer */

/* What gc would remove at this moment. */
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
/* Told once at the start, and whenever a making has ended (else NULL). For whoever counts. */
typedef void (*ImagesObserver)(Images *i, const Making *ended, void *userdata);
void images_observe(Images *i, ImagesObserver observer, void *userdata);

/* Makings: what every kind has. */
extern const ShapeNames making_kind_names, making_status_names;
const char *making_kind_name(int kind);
int making_kind_from_name(const char *name); /* -EINVAL, also below */
const char *making_status_name(int status);
int making_status_from_name(const char *name);

typedef struct MakingInfo { /* borrowed until the loop turns */
        const char *id, *tenant, *name, *error, *stage, *digest;
        int kind, status, error_code;
        uint64_t done, total, log_bytes;
        usec_t created_at, ended_at;
} MakingInfo;
void making_info(const Making *k, MakingInfo *ret);
const char *making_tenant(const Making *k); /* "": of none */
int makings_each(Images *i, const char *tenant /* NULL: all */, int (*each)(Making *k, void *userdata), void *userdata); /* the newest first */
int making_open_log(const Making *k); /* the caller's to close */

/* Told when its log grows, when it gets on, and at its end, after which it is not told again. */
typedef struct MakingWatch {
        void (*changed)(Making *k, void *userdata);
        void *userdata;
        Making *making;
        struct MakingWatch *prev, *next;
} MakingWatch;
void making_watch(Making *k, MakingWatch *watch);
void making_unwatch(MakingWatch *watch); /* also when it never watched */

int making_new(Images *i, const Principal *who, MakingKind kind, const char *template_name /* NAME[:TAG] */, Making **ret, Error *reterr);
const char *making_id(const Making *k);
void making_log(Making *k, const char *format, ...) __attribute__((format(printf, 2, 3))); /* a line of its log */
void making_log_bytes(Making *k, const void *data, size_t size);
void making_progress(Making *k, const char *stage, uint64_t done, uint64_t total);
bool making_is_cancelled(const Making *k);
void making_end(Making *k, const Image *image /* what it made; may be NULL */, const Error *error);
Making *making_find(Images *i, const Principal *who, const char *id);
void making_cancel(Making *k);

/* A sequence that works for a making: the first member of the object that its steps are called with. One may begin another within a step, as a build
 * does that fetches what it stands on: that step has no cancel, it awaits the end of the inner one. Cancelling the making cancels all of them. */
typedef struct MakingWork {
        SequenceRun run;
        Images *images;
        Making *making;                  /* NULL: for whoever waits for it */
        TreeCall *call;                  /* that the step waits for */
        char scratch[TREE_NAME_MAX + 1]; /* that it has made; "": none */
        sd_event_source *deferred;
        void (*release)(void *work); /* at the daemon's end: its memory */
        const char *cancelled;       /* what is said of it then; NULL: that it was */
        struct MakingWork *prev, *next;
} MakingWork;
/* As sequence_start(): on failure the work is the caller's again. images, making and release are set. */
int making_work_start(MakingWork *w, const Sequence *sequence, Error *reterr);
void making_work_done(MakingWork *w); /* it has ended; also when it never started. Nobody hears of its call any more */
/* For tables: Sequence.defer; SequenceStep.cancel of a step that runs cove-tree; SequenceStep.undo of one that makes a scratch. */
void making_work_defer(void *work);
void making_work_cancel_run(void *work);
int making_work_drop_scratch(void *work, Error *why);
/* Ends of what a step waits for. */
void making_work_on_tree(const TreeAnswer *answer, const Error *error, void *work);
/* Steps: a scratch, empty (from NULL) or a copy; the same published, after which there is none. A layer that is there already is as good. */
int making_work_make_scratch(MakingWork *w, const char *tenant, const TreeRef *from, Error *reterr); /* tenant: whose quota of disk it counts for */
int making_work_publish(MakingWork *w, TreeKind kind, const char *name, Error *reterr);
static inline int making_work_waits(int r) { /* what a call gave that answers later */
        return r < 0 ? r : STEP_WAITS;
}

/* Used by build/ and by the surfaces. All answer exactly once by done. */
typedef void (*ImageDone)(const Image *image, const Error *error, void *userdata);

/* Digest or NAME[:TAG]; NULL: there is none. Borrowed until the loop turns. */
const Image *images_find(Images *i, const char *tenant, const char *name);
/* FROM: the one that is there, or pulled into this making's log. auth: as of a pull. */
int images_get(Images *i, Making *k, const char *reference, const char *auth, ImageDone done, void *userdata, Error *reterr);
/* Takes the image's contents; its layer or snapshot tree is there. Points NAME:TAG at it, in one transaction. */
int images_put(Images *i, const char *tenant, const char *name_and_tag, Image *image, Error *reterr);
/* Another name for what is there. -ENOENT: there is no such image. */
int images_tag(Images *i, const char *tenant, const char *name_and_tag, const char *digest, Error *reterr);
/* A layer out of what a persistent sandbox, standing on a layer, has changed: copied parent, flatten, publish. chain: its name, given by the caller (hex). */
int images_flatten(Images *i, Making *k, const char *parent_layer, TreeKind disk_kind, const char *disk_name, const char *chain, ImageDone done, void *userdata, Error *reterr);

/* Before a disk is published as TREE_SNAPSHOT for an image or a step: from here on there is a row of it, and it goes unless images_put() or images_cache_put() takes it over.
 * Disowned: publishing it has failed, and nobody knows how far it came. */
int images_snapshot_announce(Images *i, const char *name);
void images_snapshot_disown(Images *i, const char *name);

/* The cache of build steps: key (hex SHA-256 over what goes in) → a snapshot tree. */
int images_cache_get(Images *i, const char *tenant, const char *key, char ret_snapshot[TREE_NAME_MAX + 1]); /* 1, 0 */
int images_cache_put(Images *i, const char *tenant, const char *key, const char *snapshot); /* takes the snapshot over */
