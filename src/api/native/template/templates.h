/* templates.h: what the files about templates and makings share. */
#pragma once

#include "api/native/routes/routes.h"
#include "core/spool.h"
#include "image/image.h"

/* NULL: answered. */
Images *native_images(ApiRequest *q);

extern const Shape native_making_answer;

/* 202 with the making that has begun, and where it is; r: or why it could not. */
void native_answer_making(ApiRequest *q, const Making *k, int r, const Error *error);
/* The errno of one that could not be begun, as an answer. */
void native_template_error(ApiRequest *q, int r, const Error *error);

/* spool.c: a body that is needed as a file (core/spool.h). Put into the request's state; done is called once, when all of it is there, and takes a reference where it keeps it.
 * Beyond max: 413; beyond the quota and the disk: as it comes. */
typedef void (*SpoolDone)(ApiRequest *q, Spool *body);
void spool_begin(ApiRequest *q, uint64_t max, SpoolDone done);
ssize_t native_spool_data(ApiRequest *q, const void *data, size_t size);
