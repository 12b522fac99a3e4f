/* survey.h: what a tar archive has in it, with the hash of each file: for who has to know whether two are the same, and to choose from it.
 *
 * Written, for each member, with NULs where others have newlines:
 *
 *      TYPE MODE SIZE FLAG HASH NUL path NUL target NUL     f d l h (hard link); mode octal; flag "t": is a tar archive itself, "i": is left out, else "-"; hash of files, else "-"
 *      = SIZE NUL path NUL bytes NUL                        the content of a file that was asked for by name, behind its line
 *      . COUNT NUL                                          the end; without it, it is not all
 *
 * Paths are clean and lead nowhere else. */
#pragma once

#include "base/error.h"
#include "base/strv.h"

#define SURVEY_MEMBERS_MAX 200000
#define SURVEY_TAKEN_MAX   (1 << 20) /* bytes of one file that is asked for */

/* ignore: the name of a member with patterns of what is left out (base/ignore.h); NULL: none. Then `from` is read twice. */
int survey_write(int from, int to, const Strv *taken, const char *ignore, Error *reterr);

/* The bytes of one file of it. */
int survey_member(int from, int to, const char *path, Error *reterr);
