/* option.h: the kinds of options for a verb's table.
 *
 * A value goes into a field of the verb's own struct, into the body of its request, or into the query of its
 * path. Keys of the body may have a dot: "limits.memoryMB" is a member of a member.
 * Must not know: which options exist. */
#pragma once

#include "client/usage.h"

/* Into a field, in addition to the kinds of cli/options.h: usec_t. */
OPTION_KIND(option_duration);
#define OPTION_DURATION(type, field) .set = option_duration, OPTION_FIELD(type, field)

/* Kept for the verb itself, by the option's name. */
OPTION_KIND(option_own);
#define OPTION_OWN .set = option_own

/* The option's value; "" if it takes none. NULL: not given. */
const char *common_said(const Common *c, const char *option);

/* Into the body. */
OPTION_KIND(body_text);
OPTION_KIND(body_true);
OPTION_KIND(body_seconds);
OPTION_KIND(body_megabytes);
OPTION_KIND(body_bytes);
OPTION_KIND(body_number);
OPTION_KIND(body_cpus);
OPTION_KIND(body_words);    /* added to a list */
OPTION_KIND(body_pair);     /* NAME=VALUE, into an object */
OPTION_KIND(body_env);      /* likewise; NAME alone takes the caller's variable */
OPTION_KIND(body_env_file); /* a file with such lines */

#define BODY_TEXT(member)              .set = body_text, .key = (member)
#define BODY_TRUE(member)              .set = body_true, .key = (member)
#define BODY_SECONDS(member)           .set = body_seconds, .key = (member)
#define BODY_MEGABYTES(member, low)    .set = body_megabytes, .key = (member), .min = (uint64_t) (low) << 20
#define BODY_BYTES(member)             .set = body_bytes, .key = (member)
#define BODY_NUMBER(member, low, high) .set = body_number, .key = (member), .min = (low), .max = (high)
#define BODY_COUNT(member)             BODY_NUMBER(member, 0, INT64_MAX)
#define BODY_CPUS(member)              .set = body_cpus, .key = (member)
#define BODY_WORDS(member, ceiling)    .set = body_words, .key = (member), .max = (ceiling)
#define BODY_PAIR(member)              .set = body_pair, .key = (member)
#define BODY_ENV(member)               .set = body_env, .key = (member)
#define BODY_ENV_FILE(member)          .set = body_env_file, .key = (member)

/* Into the query. */
OPTION_KIND(query_text);
OPTION_KIND(query_true);
OPTION_KIND(query_number);
OPTION_KIND(query_seconds);
OPTION_KIND(query_milliseconds);
OPTION_KIND(query_ago);  /* "10m" means that long ago; other values are passed to the daemon */
OPTION_KIND(query_pair); /* KEY=VALUE; the parameter is the name, a dot, and KEY */

#define QUERY_TEXT(parameter)              .set = query_text, .key = (parameter)
#define QUERY_TRUE(parameter)              .set = query_true, .key = (parameter)
#define QUERY_NUMBER(parameter, low, high) .set = query_number, .key = (parameter), .min = (low), .max = (high)
#define QUERY_SECONDS(parameter)           .set = query_seconds, .key = (parameter)
#define QUERY_MILLISECONDS(parameter)      .set = query_milliseconds, .key = (parameter)
#define QUERY_AGO(parameter)               .set = query_ago, .key = (parameter)
#define QUERY_PAIR(parameter, ceiling)     .set = query_pair, .key = (parameter), .max = (ceiling)

/* The value that an option has put into the query. NULL: none. */
const char *common_query(const Common *c, const char *parameter);
