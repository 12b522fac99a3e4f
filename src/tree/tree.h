/* tree.h: cove-tree, the program that works on the content of trees.
 *
 * A program of its own, because it takes apart what strangers made, with a large library (libarchive), and writes ids that only root can. The
 * spawner starts it (TREE_RUN of base/tree-request.h): root of a user namespace of its own, with capabilities over the given trees and nothing else;
 * it shuts itself in before it reads a byte: no network, no process, no exec, no path but below its trees (openat2 beneath, Landlock), memory with a
 * ceiling. `cove` itself starts it too, for transactions (cli/txn*).
 *
 * Descriptors: 0, 1 as the verb says; 2: one line at a failure, an errno as a number, a space, a sentence; 3: reports, a JSON object a line,
 * {"progress":{"entries":N,"bytes":N}} at most ten a second, and {"result":{…}} before a good end; 4, 5, 6: the trees, in the order of the request.
 * Ends with 0, or with 1 and the line.
 *
 *   unpack [--digest sha256:HEX] [--diff-id sha256:HEX] [--max-bytes N] [--max-entries N]
 *          0: a layer (OCI: tar, plain or gzip or zstd, with whiteouts) is applied to tree 4 (rw). Result: entries, bytes, devicesLeftOut, size, digest, diffId,
 *          mediaType. unpack.h has the rules. A digest that differs, and bytes that are no layer: EBADMSG.
 *   flatten [--max-bytes N] [--max-entries N]
 *          tree 4 (rw, a copy of the layer that the sandbox stands on) gets what tree 5 (ro, a disk) has changed: files by reflink. What the jail puts
 *          there (/dev, /proc, /sys, directories that a template lacks, how names are found) is left out; what a guest puts into /tmp and /run is its own.
 *          Result: entries, bytes, devicesLeftOut. EOPNOTSUPP: the disk is of a sandbox on the host.
 *   pack [--compress gzip|zstd|none]
 *          1: the differences of tree 4 (ro) against tree 5 (ro; none: everything) as an OCI layer, gzip unless told. The same trees give the same bytes.
 *          Result: entries, bytes, leftOut, size, digest, diffId, mediaType.
 *   changes [--patch] [--path P]… [--limit N] [--names] [--upper]
 *          1: what disk tree 4 (ro) has changed against what it stands on, tree 5 (ro: a layer or template): a JSON object a line,
 *          {"path","change":"added|modified|deleted","type":"file|directory|link|other","oldType","mode","size","target","oldMode","oldSize","oldTarget",
 *          "uid","gid","oldUid","oldGid" (where they differ),"binary","patch","patchOmitted"}, in order of names; modes are octal text. What was only touched has not
 *          changed. --patch: the unified diff of text (libgit2), for files up to 1 MB and 10 MB in all; patchOmitted says why there is none. --names: path,
 *          change and type alone. --upper: tree 4 is itself the upper of an overlay (userxattr), and paths have no leading slash. Result: entries, truncated.
 *   export [--path P]… [--upper]
 *          1: the same, as a tar with OCI whiteouts, for whoever applies it elsewhere. Result as of pack.
 *   inspect [--user TEXT]
 *          Result: for USER of an image: uid, gid, name, home, shell out of tree 4's /etc/passwd and group; osName (os-release's); hasShell; entries and bytes of
 *          the tree. ENOENT: there is no such user. */
#pragma once

#include "confine/program.h"

#define TREES_FIRST 4
#define TREES_MAX   3

extern const Program tree_program;
