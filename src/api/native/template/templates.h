/* templates.h: shared by the files about templates and makings. */
#pragma once

#include "api/native/routes/routes.h"
#include "core/spool.h"
#include "image/image.h"

/* NULL: answered. */
Images *native_images(ApiRequest *q);

extern const Shape native_making_answer;

/* Answers 202 with the making that has started, and its Location; with r < 0, an error. */
void native_answer_making(ApiRequest *q, const Making *k, int r, const Error *error);
/* Answers with the error of a making that could not start. */
void native_template_error(ApiRequest *q, int r, const Error *error);

/* files/spool.c: receives a body into a file (core/spool.h), as the request's state. done is called once,
 * with the complete body, and takes a reference if it keeps it. A body above max gets 413; the limits of
 * quota and disk are errors too. */
typedef void (*SpoolDone)(ApiRequest *q, Spool *body);
void spool_begin(ApiRequest *q, uint64_t max, SpoolDone done);
ssize_t native_spool_data(ApiRequest *q, const void *data, size_t size);
