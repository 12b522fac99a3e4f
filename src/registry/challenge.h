/* challenge.h: what a registry says with 401: WWW-Authenticate. Pure. */
#pragma once

#include <stdbool.h>

typedef enum ChallengeScheme {
        CHALLENGE_UNKNOWN,
        CHALLENGE_BASIC,
        CHALLENGE_BEARER,
} ChallengeScheme;

typedef struct Challenge {
        ChallengeScheme scheme;
        char realm[1024], service[256], scope[1024]; /* "": not said */
} Challenge;

/* -EBADMSG: nobody can read it, or a part of it is too long. */
int challenge_parse(const char *text, Challenge *ret);
