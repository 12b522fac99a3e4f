/* replay.h: repeats the steps of a recording in a new sandbox; shared by the files of `cove replay`. */
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
        const char *of;  /* the recorded sandbox */
        char *sandbox;   /* the new one */
        json_t *lines;   /* the recording: a list of objects */
        json_t *running; /* recorded execution id → its id in the replay, and its step */
        json_t *differences;
        uint64_t step;   /* number of the last step */
        bool shown;      /* a difference has been shown in full */
        usec_t began;
} Replay;

int replay_load(Replay *r);           /* < 0: failed, and reported */
int replay_create(Replay *r);
int replay_step(Replay *r, const json_t *line); /* replays one line; < 0: failed, and reported */
const char *replay_type(const json_t *line);

/* Fetches a recorded content. The caller frees. */
int replay_content(Replay *r, const json_t *content, char **ret, size_t *ret_size);
int replay_get(const Replay *r, const Url *u, Answer *ret);
int replay_send(const Replay *r, const char *method, const Url *u, const void *data, size_t size);

/* replay-compare.c */
int replay_compare(Replay *r, const json_t *end, uint64_t step, const char *execution);
