/* replay.h: the steps of a recording, done again in a fresh sandbox; what `cove replay` consists of. */
#pragma once

#include "client/client.h"
#include "client/usage.h"

typedef struct ReplayOptions {
        Common common;
        uint64_t until; /* 0: to the end */
        bool shell, timing, keep;
} ReplayOptions;

typedef struct Replay {
        const Place *place;
        const ReplayOptions *o;
        const char *of;  /* the sandbox that was recorded */
        char *sandbox;   /* the fresh one */
        json_t *lines;   /* the recording: a list of objects */
        json_t *running; /* execution's id then: its id now, and its step */
        json_t *differences;
        uint64_t step;   /* number of the last one */
        bool shown;      /* a difference in full */
        usec_t began;
} Replay;

int replay_load(Replay *r);           /* told, < 0 */
int replay_create(Replay *r);
int replay_step(Replay *r, const json_t *line); /* one line; told, < 0 when it could not be done */
const char *replay_type(const json_t *line);

/* A content of the recording. The caller frees. */
int replay_content(Replay *r, const json_t *content, char **ret, size_t *ret_size);
int replay_get(const Replay *r, const Url *u, Answer *ret);
int replay_send(const Replay *r, const char *method, const Url *u, const void *data, size_t size);

/* replay-compare.c */
int replay_compare(Replay *r, const json_t *end, uint64_t step, const char *execution);
