/* ids-users.h: user and group ids that belong to somebody on this machine: accounts of /etc/passwd and /etc/group, and what
 * /etc/subuid and /etc/subgid give to users for containers of their own. Users of a directory service are not looked up.
 * Must not know: what the ids are for. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

typedef void (*IdsVisit)(uid_t first, uint64_t count, void *userdata);

/* A file that does not exist has no ids. A line that is malformed is left out. */
int ids_users_walk(IdsVisit visit, void *userdata, Error *reterr);

/* The numbers in one file; columns: where they are in a line, from 0; count_column 0: each stands for itself. */
void ids_users_read(const char *text, size_t size, unsigned first_column, unsigned count_column, IdsVisit visit, void *userdata);
