/* zygote.h: preloaded interpreters, and their children on the way into sandboxes.
 *
 * One process for each --zygote option of the spawner. It starts when the first sandbox that it may serve is made,
 * and again after it dies, with growing delays if it dies soon. It holds no state of ours: a request that finds none
 * ready fails at once.
 * A child enters only a sandbox that was made for it (SpawnCreate.zygote). The kernel is asked who owns the sandbox's
 * namespaces; our own memory is not trusted for that.
 * Must not know: what the interpreter does, the contents of channels. Trust: README.md. */
#pragma once

#include <poll.h>

#include "spawner/spawner.h"
#include "zygote/protocol.h"

#define ZYGOTES_MAX 8
#define ZYGOTE_FORKS_MAX 16 /* children on their way */
#define ZYGOTE_IMPORTS_MAX 32

/* "TEMPLATE:LANGUAGE:MODULE,MODULE…" */
int zygote_add(ZygoteLines *lines, const char *text, Error *reterr);

void zygotes_init(Spawner *s);
void zygotes_end(Spawner *s); /* kills all of them and removes their cgroups */

/* A sandbox that a child may enter is about to be made: starts the template's zygotes. */
void zygotes_expect(Spawner *s, const char *template_name);

/* SPAWN_ZYGOTE */
void zygote_ask(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds);

size_t zygotes_poll(const Spawner *s, struct pollfd ret[static ZYGOTES_MAX + ZYGOTE_FORKS_MAX]);
void zygotes_handle(Spawner *s, const struct pollfd *fds, size_t n);
usec_t zygotes_next(const Spawner *s); /* when zygotes_run_due() is due; USEC_INFINITY: never */
void zygotes_run_due(Spawner *s);
bool zygotes_are_busy(const Spawner *s); /* no further child can be forked at present */
