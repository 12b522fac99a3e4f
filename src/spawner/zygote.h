/* zygote.h: interpreters that stand ready, and their children on the way into sandboxes.
 *
 * One process for each --zygote that the spawner was started with, begun when the first sandbox that it may serve is made, begun anew when it dies (ever
 * later, when it dies soon). It has no state of ours: whoever asks while there is none is told so at once.
 * A child goes only into a sandbox that was made for it (SpawnCreate.zygote): that is looked at in the kernel, by whom its namespaces belong to, and not in any
 * memory of ours.
 * Must not know: what the interpreter does, what is said over channels. Trust: README.md. */
#pragma once

#include <poll.h>

#include "spawner/spawner.h"
#include "zygote/protocol.h"

#define ZYGOTES_MAX 8
#define ZYGOTE_FORKS_MAX 16 /* on their way */
#define ZYGOTE_IMPORTS_MAX 32

/* "TEMPLATE:LANGUAGE:MODULE,MODULE…" */
int zygote_add(ZygoteLines *lines, const char *text, Error *reterr);

void zygotes_init(Spawner *s);
void zygotes_end(Spawner *s); /* all of them, and their groups */

/* A sandbox that one may enter is about to be made: it had better be there. */
void zygotes_expect(Spawner *s, const char *template_name);

/* SPAWN_ZYGOTE */
void zygote_ask(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds);

size_t zygotes_poll(const Spawner *s, struct pollfd ret[static ZYGOTES_MAX + ZYGOTE_FORKS_MAX]);
void zygotes_handle(Spawner *s, const struct pollfd *fds, size_t n);
usec_t zygotes_next(const Spawner *s); /* when there is something to be done without being told; USEC_INFINITY: never */
void zygotes_run_due(Spawner *s);
bool zygotes_are_busy(const Spawner *s); /* no further one can be on its way */
