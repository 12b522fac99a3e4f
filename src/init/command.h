/* command.h: one command of a shim, and where its output goes.
 *
 * Makes its three descriptors, starts it, keeps the journals that belong to them.
 * Must not know: who waits for the command, what is reported about it. */
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
        int outputs[2];  /* the files that they write to; a segment: its data and its index */
        int writers[2];  /* copies of its ends of the pipes: its end wakes us once, by a signal, not by each pipe */
        int terminal_fd; /* a copy of its end: a moment in which no process has the terminal open is not its hang-up;
                          * -EBADF: none */
} Command;

#define COMMAND_EMPTY                                                                                        \
        {                                                                                                    \
                .journals = { JOURNAL_EMPTY, JOURNAL_EMPTY },                                                \
                .outputs = { -EBADF, -EBADF },                                                               \
                .writers = { -EBADF, -EBADF },                                                               \
                .terminal_fd = -EBADF,                                                                       \
        }

/* Capabilities of every command of that user. */
uint64_t command_capabilities(uid_t uid);

/* Takes the steps that all commands of one kind share (guest root's, or all others'), once, in the process that starts
 * them and stays with the processes that they leave behind. Reduces the caller's own bounding set to theirs. On success
 * .error is 0. */
SpawnFailure command_prepare(const ShimSetting *setting, uid_t uid);

/* The walls of a command, the same for executions and sudo. The caller adds descriptors and terminal. */
SpawnSpec command_spec(const ShimSetting *setting, uid_t uid, gid_t gid, uint64_t nofile, uint64_t nproc, const Strings *strings);

/* Takes the descriptors that it needs, also on failure. The journals count in `counters`. */
int command_start(Command *c, const ShimSetting *setting, const ShimSlot *slot, GuestExited *counters,
                const uint8_t *strings, int fds[static _SHIM_DESCRIPTOR_MAX], SpawnFailure *ret_failure);

/* After the command's end: moves its remaining output into the journals. */
void command_drain(Command *c);

/* After this the journals end when the last process left behind has closed its end. */
void command_close_writers(Command *c);

void command_done(Command *c);
