/* import.h: which image of an archive, and what it is made of. */
#pragma once

#include "registry/contents.h"
#include "registry/verbs.h"

/* An OCI layout: index.json leads to a manifest that is there. */
int import_oci(const Contents *a, const Arguments *arguments, Error *reterr);
/* `docker save`: manifest.json names configuration and layers. */
int import_docker(const Contents *a, const Arguments *arguments, Error *reterr);
/* Whether a document is docker's manifest.json, and not somebody's file of that name. */
bool import_is_docker(const char *text, size_t size);

/* Whether two names mean the same image: "a:1" is "docker.io/library/a:1". */
bool import_same_name(const char *a, const char *b);
/* For errors: names of what there is. */
void import_list_name(char *list, size_t room, const char *name);
