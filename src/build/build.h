/* build.h: builds templates from a Dockerfile, a short YAML recipe or a list of steps.
 *
 * All three become a list of stages with steps (plan.h). Each stage runs in one persistent sandbox, its steps
 * in order. After each step the disk is copied (O(1)) and kept in the cache under a key. The key covers
 * everything that could change the result: the previous key, the instruction with its variables replaced, and
 * the content of copied files. A build resumes after the last step in the cache. At the end of a stage on a
 * layer, the changes are flattened to a layer; on "host", the copy of the disk is the template.
 * RUN: runs as the build's user (root until USER), with the network of the build (by default that of the
 * settings' build section). Its output goes to the making's log.
 * A failed step: its output, line and exit status are reported. The cache of the steps before it stays; its
 * sandbox is deleted.
 * A build does not outlive the daemon: the next start deletes its sandboxes and fails its making; the cache
 * is kept.
 * May use: image/image.h, core (acquire, execution, fileop), json, config's YAML reader.
 * Must not know: HTTP, SQL, the content of trees. */
#pragma once

#include "core/spool.h"
#include "image/image.h"

typedef struct Builds Builds;

/* Deletes what an earlier daemon's builds have left. */
int builds_new(Images *i, Manager *m, Builds **ret, Error *reterr);
Builds *builds_free(Builds *b); /* call it before images_free() */

/* One of several archives with files, by the name that a step uses (steps.h). */
typedef struct BuildArchive {
        char *name;
        int fd;
} BuildArchive;

typedef struct BuildRequest {
        char *name;         /* NAME[:TAG] */
        /* The build context as a tar file, which contains the Dockerfile or cove-template.yaml; NULL: none. */
        Spool *context;
        char *file;         /* name of that file; NULL: Dockerfile, else cove-template.yaml */
        char *text;         /* or the text of that file; NULL */
        char *recipe;       /* or a built-in recipe (recipe.h); NULL */
        char *steps;        /* or a list of steps as JSON (steps.h), with the archives that they name; NULL */
        BuildArchive *archives;
        size_t n_archives;
        /* For the registry of the base image: "user:password"; NULL: none. It appears in no log and no key. */
        char *auth;
        char *target;       /* stage; NULL: the last */
        Strv arguments;     /* ARG: "K=V" */
        bool no_cache;
        bool has_network;   /* else the settings' default */
        uint8_t network;    /* NetworkMode */
        char *policy;       /* JSON, normalised; NULL: none */
} BuildRequest;
void build_request_done(BuildRequest *request);

/* Takes the request's contents. The end of the build is the end of the making. -EINVAL: errors that are found
 * before anything is read. */
int build_start(Builds *b, const Principal *who, BuildRequest *request, Making **ret, Error *reterr);
