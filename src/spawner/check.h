/* check.h: checks requests as if an enemy had written them.
 *
 * Must not know: how a sandbox is made. */
#pragma once

#include "base/error.h"
#include "wire/spawn.h"

typedef struct Template {
        char *name;
        char *directory; /* NULL: the host's own /usr */
        bool furnished;  /* JailSpec */
} Template;

typedef struct Templates {
        Template *items;
        size_t n;
} Templates;

#define TEMPLATES_MAX 256

const Template *template_find(const Templates *t, const char *name);

/* text: "NAME=DIR", from the command line. */
int template_add(Templates *t, const char *text, Error *reterr);

int check_id(const char *id, Error *reterr);
int check_create(const SpawnCreate *c, const Templates *templates, bool privileged, Error *reterr);

/* It must be a bound unix SOCK_SEQPACKET socket that does not listen yet. */
int check_listen_socket(int fd, Error *reterr);
