/* task.h: operations that take time: to end, freeze, thaw a sandbox.
 *
 * The loop checks a task when it is due, or after an event of its sandbox, and answers when the task is complete.
 * Between two checks a task holds only the sandbox's id.
 * Must not know: how sandboxes are made. */
#pragma once

#include "base/clock.h"
#include "spawner/spawner.h"

#define TASKS_MAX 1024

/* Kills the remaining processes of a sandbox and removes its cgroups. Answers DONE; or FAILED with the given failure,
 * when it cleans up after that failure. Cancels all other tasks of the sandbox. */
void task_remove(Spawner *s, const char *id, uint32_t serial, const Error *failure);

void task_freeze(Spawner *s, const char *id, uint32_t serial, bool freeze);

/* Runs beside the loop; the next request for that sandbox ends it. */
void task_reclaim(Spawner *s, const char *id, uint32_t serial);

/* Whether the sandbox is being removed. */
bool task_is_removing(const Spawner *s, const char *id);

/* A process of that sandbox has ended. */
void task_sandbox_ended(Spawner *s, const char *id);

void task_run_due(Spawner *s);
usec_t task_next(const Spawner *s); /* USEC_INFINITY: none */
