/* environment.h: what the command is told, as sudo tells it. Pure: the caller's environment comes as a list. */
#pragma once

#include "base/strv.h"
#include "sudo/account.h"
#include "sudo/options.h"

#define SUDO_PATH        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define SUDO_STRINGS_MAX 65536

/* The command itself: as it is, or as one line for a shell (-s, -i). Fills an empty list. */
int sudo_command(const SudoOptions *o, const SudoAccount *target, const char *shell, Strv *ret);

/* Where a command of that name would be found; the name where it is nowhere. */
void sudo_find_program(const char *name, char *ret, size_t size);

int sudo_environment(const SudoOptions *o, const SudoAccount *caller, const SudoAccount *target, char *const *environment, const Strv *command, Strv *ret);
