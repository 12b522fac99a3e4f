/* document.h: untrusted JSON. The caller limits its size; this limits its depth and refuses duplicate names. */
#pragma once

#include "base/error.h"
#include "json/json.h"

#define DOCUMENT_DEPTH_MAX 32

/* Parses one object; NULL with -EBADMSG in the error, which names the position. */
json_t *document_parse(const char *data, size_t size, Error *reterr);
/* Parses one array. */
json_t *document_parse_list(const char *data, size_t size, Error *reterr);

/* A string member: "" if it is absent or null. -EBADMSG: not a string, or too long for `ret`. */
int document_text(json_t *object, const char *key, char *ret, size_t room, Error *reterr);
