/* http-target.h: what a request asks for: the target of its first line, and its Host.
 *
 * A path is brought into the one form that policies are compared with (egress_path_normalise()) and that is sent on. What servers read in
 * different ways has no such form and is refused.
 * Must not know: policy, connections. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/egress.h"

typedef struct HttpTarget {
        char *path;      /* normalised; "*" for OPTIONS * */
        char *query;     /* as it came, without the question mark; NULL: none */
        char *authority; /* absolute-form: what stands between "//" and the path; NULL: origin-form */
        bool https;      /* absolute-form: its scheme */
} HttpTarget;

void http_target_done(HttpTarget *t);
int http_target_parse(const char *method, const char *target, HttpTarget *ret); /* -EBADMSG */

/* Caller frees. -EBADMSG. */
int http_path_normalise(const char *path, size_t size, char **ret);

typedef struct HttpAuthority {
        char host[EGRESS_DOMAIN_MAX]; /* normalised; "" when it is an address */
        bool is_address;
        IpAddress address;
        uint16_t port; /* 0: none given */
} HttpAuthority;

int http_authority_parse(const char *text, HttpAuthority *ret); /* -EBADMSG */
