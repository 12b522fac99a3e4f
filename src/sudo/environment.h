/* environment.h: the arguments and the environment of the command, as sudo makes them. Pure: the caller's environment
 * is a parameter. */
#pragma once

#include "base/strv.h"
#include "sudo/account.h"
#include "sudo/options.h"

#define SUDO_PATH        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define SUDO_STRINGS_MAX 65536

/* The command: unchanged, or as one line for a shell (-s, -i). Fills an empty list. */
int sudo_command(const SudoOptions *o, const SudoAccount *target, const char *shell, Strv *ret);

/* The path of the command of that name; the name itself if it is not found. */
void sudo_find_program(const char *name, char *ret, size_t size);

int sudo_environment(const SudoOptions *o, const SudoAccount *caller, const SudoAccount *target, char *const *environment, const Strv *command, Strv *ret);
