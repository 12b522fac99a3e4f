/* steps.h: parses a list of steps as JSON, in the form of E2B's SDK, into a plan.
 *
 *      {"fromImage": "python:3.12",            or "fromTemplate": "NAME[:TAG]"
 *       "steps": [{"type": "RUN",     "args": ["pip install x", "root"], "force": false},
 *                 {"type": "COPY",    "args": ["src", "/app", "user", "0755"], "filesHash": "64 digits: the archive with its files"},
 *                 {"type": "ENV",     "args": ["A", "1", "B", "2"]}, {"type": "WORKDIR", "args": ["/app"]}, {"type": "USER", "args": ["app"]}],
 *       "startCmd": "…", "readyCmd": "…"}
 *
 * The plan provides what such templates rely on: there is a user "user". Steps that name no other user run as
 * "user", in /home/user, with a login shell, and files that they copy or make belong to it. A hidden step
 * with number 0 creates that user. The others are numbered from 1; error messages use the number as the line.
 * Unknown fields are ignored.
 * Pure. Must not know: sandboxes, images, files, who sends them. */
#pragma once

#include "build/plan.h"

#define STEPS_FILE   "steps" /* prefix of error messages */
#define STEPS_USER   "user"
#define STEPS_HOME   "/home/user"
#define STEPS_HIDDEN 1       /* number of hidden steps */
#define STEPS_HASH   64

bool steps_hash_is_valid(const char *text);

/* -EINVAL, -E2BIG: "steps:NUMBER: " and the problem. options: there is one stage and no argument. */
int steps_parse(const char *text, size_t size, const PlanOptions *options, Plan **ret, Error *reterr);
