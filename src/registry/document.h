/* document.h: JSON that strangers wrote: bounded in size by whoever reads it, in depth here, no name twice. */
#pragma once

#include "base/error.h"
#include "json/json.h"

#define DOCUMENT_DEPTH_MAX 32

/* One object; NULL with -EBADMSG in the error, which says where. */
json_t *document_parse(const char *data, size_t size, Error *reterr);
/* The same for one list. */
json_t *document_parse_list(const char *data, size_t size, Error *reterr);

/* A text member: "" when it is absent or null. -EBADMSG: no text, or longer than fits. */
int document_text(json_t *object, const char *key, char *ret, size_t room, Error *reterr);
