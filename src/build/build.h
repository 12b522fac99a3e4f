/* build.h: templates out of a Dockerfile or a short YAML.
 *
 * Both become a list of stages with steps (plan.h); each stage runs in one persistent sandbox, its steps one after the other, and after each the disk is copied (O(1)) and kept in the cache
 * under a key that has everything in it that could change the result: the key before it, the instruction with its variables replaced, the content of copied files. A build begins
 * at the last step that the cache has. The end: on a layer, what changed is flattened to a layer; on "host", the disk's copy is the template.
 * RUN: as the build's user (root until USER), with the network that the build was given (default: egress by the settings' build policy; none where nothing is set), its output in the making's log.
 * A step that fails: its output, its line, its exit status are told; the cache of the steps before it stays; its sandbox goes.
 * May use: image/image.h, core (acquire, execution, fileop), json, config's YAML reader. Must not know: HTTP, SQL, trees' insides. */
#pragma once

#include "image/image.h"

typedef struct BuildRequest {
        char *name;         /* NAME[:TAG] */
        int context_fd;     /* the context as a tar file, with the Dockerfile or cove-template.yaml in it; -EBADF: none */
        char *file;         /* which file of it; NULL: Dockerfile, else cove-template.yaml */
        char *text;         /* or the file's text itself; NULL */
        char *target;       /* stage; NULL: the last */
        Strv arguments;     /* ARG: "K=V" */
        bool no_cache;
        char *network;      /* NULL: as the settings say */
        char *policy;       /* JSON; NULL */
} BuildRequest;

/* Takes the request's contents; its end is the making's. */
int build_start(Images *i, const Principal *who, BuildRequest *request, Making **ret, Error *reterr);
