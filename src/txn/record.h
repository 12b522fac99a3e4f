/* record.h: small text files of a transaction. Private to the files of txn.h. */
#pragma once

#include <stdio.h>

#include "txn/txn.h"

void record_put_text(FILE *f, const char *text);
int record_get_text(char *text); /* in place; -EBADMSG */

/* Write a file atomically. */
int record_begin(int dirfd, const char *name, FILE **ret);
int record_end(int dirfd, const char *name, FILE *f);

int record_load(Txn *t, Error *reterr);
