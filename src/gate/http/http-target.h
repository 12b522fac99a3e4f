/* http-target.h: parses the target of a request line and the Host field.
 *
 * A path is normalised to the one form that policies are compared with (egress_path_normalise()); this form
 * is sent on. A path that servers read in different ways has no such form and is refused.
 * Must not know: policy, connections. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/egress.h"

typedef struct HttpTarget {
        char *path;      /* normalised; "*" for OPTIONS * */
        char *query;     /* as received, without the question mark; NULL: none */
        char *authority; /* absolute-form: the text between "//" and the path; NULL: origin-form */
        bool https;      /* absolute-form: whether its scheme is https */
} HttpTarget;

void http_target_done(HttpTarget *t);
int http_target_parse(const char *method, const char *target, HttpTarget *ret); /* -EBADMSG */

/* Caller frees. -EBADMSG. */
int http_path_normalise(const char *path, size_t size, char **ret);

typedef struct HttpAuthority {
        char host[EGRESS_DOMAIN_MAX]; /* normalised; "" if it is an address */
        bool is_address;
        IpAddress address;
        uint16_t port; /* 0: none given */
} HttpAuthority;

int http_authority_parse(const char *text, HttpAuthority *ret); /* -EBADMSG */
