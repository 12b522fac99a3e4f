/* language.h: finds the program that runs code of a language in a template.
 *
 * Must not know: agents, sandboxes. */
#pragma once

#include "base/error.h"
#include "base/strv.h"

/* The programs that can run a language. name: any of its names; an unknown language has no programs. */
int language_programs(const char *name, Strv *ret);

/* name: any of the language's names. The program is looked up in the template's tree, and links are resolved within the
 * tree. root_dir: "/" for the host's; NULL: the language's first program, without a look. ret_file: the name for the
 * file of code ("main.py"). ret_command: the program and its arguments, to which the caller appends the file's path.
 * -EINVAL: unknown language. -ENOENT: the tree has none of its programs. */
int language_find(const char *name, const char *root_dir, const char **ret_file, Strv *ret_command, Error *reterr);
