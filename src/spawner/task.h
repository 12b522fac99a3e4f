/* task.h: what cannot be had at once: the end of a sandbox, its freezing, its thawing.
 *
 * A task is looked at when its time has come, or when something has happened to its sandbox; its answer is sent when it is
 * over. Between two looks it holds nothing but the sandbox's id.
 * Must not know: how sandboxes are made. */
#pragma once

#include "base/clock.h"
#include "spawner/spawner.h"

#define TASKS_MAX 1024

/* Kills whatever is left of a sandbox and removes its cgroups. Answers DONE; or FAILED with the failure that is given, when it
 * is the tidying up after one. Whatever else was under way with that sandbox is cancelled. */
void task_remove(Spawner *s, const char *id, uint32_t serial, const Error *failure);

void task_freeze(Spawner *s, const char *id, uint32_t serial, bool freeze);

/* Beside the loop; whatever comes next for that sandbox ends it. */
void task_reclaim(Spawner *s, const char *id, uint32_t serial);

/* Whether its end is under way. */
bool task_is_removing(const Spawner *s, const char *id);

/* A process of that sandbox has ended. */
void task_sandbox_ended(Spawner *s, const char *id);

void task_run_due(Spawner *s);
usec_t task_next(const Spawner *s); /* USEC_INFINITY: none */
