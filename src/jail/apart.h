/* apart.h: gives each sandbox inodes of its own.
 *
 * An inode carries more than a file's contents: locks, leases, watches, times. Two sandboxes that share an inode can
 * use it to communicate, to watch each other and to deny each other a lock. A sandbox therefore never gets files of
 * the host or of a template directly: it sees them through an overlay, and the inodes of an overlay belong to that
 * one mount. The contents, and the memory pages that hold them, stay shared.
 * Must not know: what the directory is, which sandbox it is for. */
#pragma once

#include <stdbool.h>

/* A read-only overlay of one directory, detached. empty: an empty directory, because the kernel requires two layers. */
int apart_make(const char *directory, const char *empty);

/* The same, attached at a place, or over the directory itself. */
int apart_attach(const char *directory, const char *empty, const char *place);
int apart_cover(const char *directory, const char *empty);

/* The kernel has a single inode for the anonymous files (event counters, timers, polls, …) of all processes. Takes a
 * shared lock on the whole inode, by flock() and by fcntl(); the caller keeps the returned descriptor. While one
 * process holds these locks, every process can take a shared lock on the inode and none an exclusive one. If a
 * process of the host holds an exclusive lock, the call waits for it a moment (tries, 5 ms apart) and then returns
 * without that lock. A sandbox that started without it does not get it later: the protection returns with the next
 * sandbox that does.
 *
 * Whenever any process closes an anonymous file, the kernel looks through all locks on the inode. So the number of locks
 * must not grow with the number of sandboxes: those of one maker share an open file, which has the locks for as long as
 * one of them has a descriptor of it. */
int apart_hold_anonymous(unsigned tries, bool *ret_has_all);

#define APART_HOLD_TRIES 20
