/* challenge.h: parses the WWW-Authenticate header of a registry's 401. Pure. */
#pragma once

#include <stdbool.h>

typedef enum ChallengeScheme {
        CHALLENGE_UNKNOWN,
        CHALLENGE_BASIC,
        CHALLENGE_BEARER,
} ChallengeScheme;

typedef struct Challenge {
        ChallengeScheme scheme;
        char realm[1024], service[256], scope[1024]; /* "": absent */
} Challenge;

/* -EBADMSG: it cannot be parsed, or a part of it is too long. */
int challenge_parse(const char *text, Challenge *ret);
