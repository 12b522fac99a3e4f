/* command.h: one command of a shim, and the ways its output goes.
 *
 * Makes its three descriptors, starts it, keeps the journals that belong to them.
 * Must not know: who waits for the command, what is told of it. */
#pragma once

#include <errno.h>

#include "init/journal.h"
#include "init/shim.h"
#include "init/spawn.h"
#include "init/strings.h"

typedef struct Command {
        pid_t pid; /* 0: has ended */
        usec_t started;
        InitJournal journals[2];
        int writers[2];  /* its ends of the pipes: its own end shall wake us once, by a signal, and not by each of them */
        int terminal_fd; /* its end: a terminal that nobody has open for a moment is not at its end; -EBADF: none */
} Command;

#define COMMAND_EMPTY                                                                                        \
        {                                                                                                    \
                .journals = { JOURNAL_EMPTY, JOURNAL_EMPTY },                                                \
                .writers = { -EBADF, -EBADF },                                                               \
                .terminal_fd = -EBADF,                                                                       \
        }

/* Capabilities of every command of that user. */
uint64_t command_capabilities(uid_t uid);

/* What holds for all commands of that kind (root's, or others'), done once in the process that will start them and keeps what they leave behind. Its own
 * bounding set is theirs from here on. error is 0 when it went well. */
SpawnFailure command_prepare(const ShimSetting *setting, uid_t uid);

/* The walls of a command, whoever asks for it; descriptors and terminal are still to be said. */
SpawnSpec command_spec(const ShimSetting *setting, uid_t uid, gid_t gid, uint64_t nofile, uint64_t nproc, const Strings *strings);

/* Takes what it needs of the descriptors, also when it fails. The journals count in `counters`. */
int command_start(Command *c, const ShimSetting *setting, const ShimSlot *slot, GuestExited *counters,
                const uint8_t *strings, int fds[static _SHIM_DESCRIPTOR_MAX], SpawnFailure *ret_failure);

/* It has ended: what it has said until then goes into the journals. */
void command_drain(Command *c);

/* From here on the journals end when the last of those who were left behind has closed its end. */
void command_close_writers(Command *c);

void command_done(Command *c);
