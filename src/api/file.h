/* file.h: a file as an answer, sent by the kernel: all of it, or the part that Range asks for.
 *
 * Must not know: whose file it is, how a dialect words that a range is beyond its end. */
#pragma once

#include "api/surface.h"

#define API_DATE_SIZE 32

/* As Last-Modified has it; "": the time cannot be written so. */
void api_file_date(int64_t nsec, char ret[static API_DATE_SIZE]);

/* Takes the descriptor when it answers. -ERANGE: nothing of the file is in the range, and Content-Range tells its size; the caller answers. */
int api_answer_file(ApiRequest *q, const char *type, const char *range, int *fd, uint64_t size);
