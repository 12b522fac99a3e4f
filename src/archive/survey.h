/* survey.h: a listing of a tar archive with the hash of each file, to compare files and to choose from them.
 *
 * Output for each member, with NULs in place of newlines:
 *
 *      TYPE MODE SIZE FLAG HASH NUL path NUL target NUL     TYPE: f, d, l or h (hard link); MODE is octal; FLAG: "t" the file is itself a tar archive,
 *                                                           "i" ignored, else "-"; HASH: of a file, else "-"
 *      = SIZE NUL path NUL bytes NUL                        the content of a file that was requested by name, after its line
 *      . COUNT NUL                                          the end; without it the listing is cut off
 *
 * Paths are clean and cannot lead out of the archive. */
#pragma once

#include "base/error.h"
#include "base/strv.h"

#define SURVEY_MEMBERS_MAX 200000
#define SURVEY_TAKEN_MAX   (1 << 20) /* bytes of one requested file */

/* ignore: the name of a member with ignore patterns (base/ignore.h), or NULL. With one, `from` is read twice. */
int survey_write(int from, int to, const Strv *taken, const char *ignore, Error *reterr);

/* Writes the content of one file of the archive. */
int survey_member(int from, int to, const char *path, Error *reterr);
