/* language.h: which program runs code of which language, and whether a template has it.
 *
 * Must not know: agents, sandboxes. */
#pragma once

#include "base/error.h"
#include "base/strv.h"

/* Programs that run it, by any of its names; nothing for a language that is none of ours. */
int language_programs(const char *name, Strv *ret);

/* By any of its names. The program is looked for in the template's tree (root_dir: "/" for the host's), whose links lead nowhere else.
 * ret_file: what the file shall be called ("main.py"). ret_command: the program and its arguments; the file's path follows.
 * -EINVAL: there is no such language. -ENOENT: none of its programs is there. */
int language_find(const char *name, const char *root_dir, const char **ret_file, Strv *ret_command, Error *reterr);
