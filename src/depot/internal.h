/* internal.h: between the depot's own files. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "depot/depot.h"

#define DEPOT_DIRECTORY "depot"
#define DEPOT_IMAGE     "depot.img"

/* Directory of a kind of trees, below the depot's top; NULL: it has none. */
const char *depot_kind_directory(TreeKind kind);

/* image.c: DIR/depot.img. */
int depot_image_program(Error *reterr);                                 /* whether there is one that makes file systems */
int depot_image_make(int state_fd, const DepotBounds *bounds, Error *reterr); /* -EEXIST */
int depot_image_open(int state_fd, Error *reterr);                      /* -ENOENT; -EPERM: it is not ours */
int depot_image_mount(int image_fd, int top_fd, Error *reterr);         /* covers the directory */

/* size.c: how large the image is. */
uint64_t depot_size_most(int fd /* on the disk below */, const DepotBounds *bounds, uint64_t own_bytes);
uint64_t depot_size_begin(const DepotBounds *bounds, uint64_t most);
int depot_size_reserve(int image_fd, uint64_t bytes, Error *reterr); /* the file has that size then, and all of it is on the disk below */
void depot_size_settle(int image_fd, int loop_fd, int top_fd); /* whoever changed it died in the middle of that */

/* plain.c: trees as directories. */
int depot_plain_copy(int from_dir, int to_dir); /* hard links, into an empty one */
int depot_plain_remove(int dirfd, const char *name);
int depot_plain_usage(int dirfd, const char *name, uint64_t *ret);
