/* steps.h: a list of steps as JSON, as E2B's SDK sends it, becomes a plan.
 *
 *      {"fromImage": "python:3.12",            or "fromTemplate": "NAME[:TAG]"
 *       "steps": [{"type": "RUN",     "args": ["pip install x", "root"], "force": false},
 *                 {"type": "COPY",    "args": ["src", "/app", "user", "0755"], "filesHash": "64 digits: the archive with its files"},
 *                 {"type": "ENV",     "args": ["A", "1", "B", "2"]}, {"type": "WORKDIR", "args": ["/app"]}, {"type": "USER", "args": ["app"]}],
 *       "startCmd": "…", "readyCmd": "…"}
 *
 * What such templates count on holds: there is a user "user", who does what names nobody else, in /home/user, with a login shell; what is copied and made is his. That there is one
 * is seen to by a step that nobody wrote, which has number 0; the others are counted from 1, which is what complaints say as their line. Fields that are not known are left alone.
 * Pure. Must not know: sandboxes, images, files, who sends them. */
#pragma once

#include "build/plan.h"

#define STEPS_FILE   "steps" /* what complaints begin with */
#define STEPS_USER   "user"
#define STEPS_HOME   "/home/user"
#define STEPS_HIDDEN 1       /* steps that nobody wrote */
#define STEPS_HASH   64

bool steps_hash_is_valid(const char *text);

/* -EINVAL, -E2BIG: "steps:NUMBER: what is wrong". options: there is one stage and no argument. */
int steps_parse(const char *text, size_t size, const PlanOptions *options, Plan **ret, Error *reterr);
