/* build.h: templates out of a Dockerfile, a short YAML or a list of steps.
 *
 * All become a list of stages with steps (plan.h); each stage runs in one persistent sandbox, its steps one after the other, and after each the disk is copied (O(1)) and kept in the cache
 * under a key that has everything in it that could change the result: the key before it, the instruction with its variables replaced, the content of copied files. A build begins
 * at the last step that the cache has. The end: on a layer, what changed is flattened to a layer; on "host", the disk's copy is the template.
 * RUN: as the build's user (root until USER), with the network that the build was given (default: as the settings' build section says), its output in the making's log.
 * A step that fails: its output, its line, its exit status are told; the cache of the steps before it stays; its sandbox goes.
 * A build does not outlive the daemon: the next start sweeps its sandboxes, its making is failed, its cache is where it was.
 * May use: image/image.h, core (acquire, execution, fileop), json, config's YAML reader. Must not know: HTTP, SQL, trees' insides. */
#pragma once

#include "core/spool.h"
#include "image/image.h"

typedef struct Builds Builds;

int builds_new(Images *i, Manager *m, Builds **ret, Error *reterr); /* sweeps what a former daemon's builds have left */
Builds *builds_free(Builds *b); /* before the images' room */

/* One of several archives with files, by the name that a step has for it (steps.h). */
typedef struct BuildArchive {
        char *name;
        int fd;
} BuildArchive;

typedef struct BuildRequest {
        char *name;         /* NAME[:TAG] */
        Spool *context;     /* the context as a tar file, with the Dockerfile or cove-template.yaml in it; NULL: none */
        char *file;         /* which file of it; NULL: Dockerfile, else cove-template.yaml */
        char *text;         /* or the file's text itself; NULL */
        char *recipe;       /* or one of those that come with the program (recipe.h); NULL */
        char *steps;        /* or a list of steps as JSON (steps.h), and the archives that they name; NULL */
        BuildArchive *archives;
        size_t n_archives;
        char *auth;         /* for the registry of what it stands on: "user:password"; NULL: none. Goes into no log and no key */
        char *target;       /* stage; NULL: the last */
        Strv arguments;     /* ARG: "K=V" */
        bool no_cache;
        bool has_network;   /* else as the settings say */
        uint8_t network;    /* NetworkMode */
        char *policy;       /* JSON, normalised; NULL: none */
} BuildRequest;
void build_request_done(BuildRequest *request);

/* Takes the request's contents; its end is the making's. -EINVAL: what can be seen to be wrong before anything is read. */
int build_start(Builds *b, const Principal *who, BuildRequest *request, Making **ret, Error *reterr);
