/* import.h: chooses the image of an archive and finds its parts. */
#pragma once

#include "registry/contents.h"
#include "registry/verbs.h"

/* An OCI layout: index.json names a manifest in the archive. */
int import_oci(const Contents *a, const Arguments *arguments, Error *reterr);
/* `docker save`: manifest.json names configuration and layers. */
int import_docker(const Contents *a, const Arguments *arguments, Error *reterr);
/* Whether a document is docker's manifest.json, and not an unrelated file of that name. */
bool import_is_docker(const char *text, size_t size);

/* Whether two names denote the same image: "a:1" is "docker.io/library/a:1". */
bool import_same_name(const char *a, const char *b);
/* For error messages: appends a name to a list of the available ones. */
void import_list_name(char *list, size_t room, const char *name);
