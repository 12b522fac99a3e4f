/* record.h: small files of a transaction, as text; txn.h's own. */
#pragma once

#include <stdio.h>

#include "txn/txn.h"

void record_put_text(FILE *f, const char *text);
int record_get_text(char *text); /* in place; -EBADMSG */

/* A file that is there as a whole or not at all. */
int record_begin(int dirfd, const char *name, FILE **ret);
int record_end(int dirfd, const char *name, FILE *f);

int record_load(Txn *t, Error *reterr);
