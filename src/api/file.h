/* file.h: answers with a file, sent by the kernel: all of it, or the part that Range asks for.
 *
 * Must not know: whose file it is, how a dialect reports a range beyond the end. */
#pragma once

#include "api/surface.h"

#define API_DATE_SIZE 32

/* Formats a time for Last-Modified; "": not representable. */
void api_file_date(int64_t nsec, char ret[static API_DATE_SIZE]);

/* Takes the descriptor if it answers. -ERANGE: the range is beyond the end, and Content-Range is set to the
 * size; the caller answers. */
int api_answer_file(ApiRequest *q, const char *type, const char *range, int *fd, uint64_t size);
