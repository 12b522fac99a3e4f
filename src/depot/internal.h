/* internal.h: shared by the depot's own files. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "depot/depot.h"

#define DEPOT_DIRECTORY "depot"
#define DEPOT_IMAGE     "depot.img"

/* Directory of a kind of trees, below the depot's top; NULL: none. */
const char *depot_kind_directory(TreeKind kind);

/* image.c: DIR/depot.img. */
int depot_image_program(Error *reterr);                                 /* whether mkfs.btrfs is installed */
int depot_image_make(int state_fd, const DepotBounds *bounds, Error *reterr); /* -EEXIST */
int depot_image_open(int state_fd, Error *reterr);                      /* -ENOENT; -EPERM: it is not ours */
int depot_image_mount(int image_fd, int top_fd, Error *reterr);         /* over the directory */

/* size.c: the size of the image. */
uint64_t depot_size_most(int fd /* on the disk below */, const DepotBounds *bounds, uint64_t own_bytes);
uint64_t depot_size_begin(const DepotBounds *bounds, uint64_t most);
int depot_size_reserve(int image_fd, uint64_t bytes, Error *reterr); /* extends the file to that size, fully allocated on the disk below */
void depot_size_settle(int image_fd, int loop_fd, int top_fd); /* cuts off the unused tail that an interrupted change has left */

/* plain.c: trees as directories. */
int depot_plain_copy(int from_dir, int to_dir); /* by hard links, into an empty directory */
int depot_plain_remove(int dirfd, const char *name);
int depot_plain_usage(int dirfd, const char *name, uint64_t *ret);
