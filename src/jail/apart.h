/* apart.h: inodes that nobody else has.
 *
 * An inode carries more than a file: locks, leases, watches, times. Two who have the same one can talk by it, see what the other does,
 * and keep a lock from him. So nothing of the host's and of templates comes into a sandbox as it is: it is seen through an overlay, whose
 * inodes are those of this one mount. Contents, and the pages of memory that hold them, stay shared.
 * Must not know: what the directory is, whom it is for. */
#pragma once

/* A read-only overlay of a directory alone, detached. empty: a directory with nothing in it, for the kernel wants two layers. */
int apart_make(const char *directory, const char *empty);

/* The same, attached somewhere, and over the directory itself. */
int apart_attach(const char *directory, const char *empty, const char *place);
int apart_cover(const char *directory, const char *empty);

/* The kernel has one inode for the event counters, timers, polls, … of all processes. Who calls this and lives has a shared lock on all
 * of it, by flock() and by fcntl(): then everybody can have a shared one as well and nobody an exclusive one, whatever others do.
 * Somebody of the host who has an exclusive one is waited for, a moment; who keeps it, keeps it from us, and those who began meanwhile hold nothing
 * when he lets go: until one begins again that does. Returns a descriptor to keep. */
int apart_hold_anonymous(void);
