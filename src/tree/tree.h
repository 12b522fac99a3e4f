/* tree.h: cove-tree, the program that works on the content of trees.
 *
 * A program of its own, because it takes apart what strangers made, with a large library (libarchive), and writes ids that only root can. The
 * spawner starts it (TREE_RUN of wire/tree.h): root of a user namespace of its own, with capabilities over the given trees and nothing else;
 * it shuts itself in before it reads a byte: no network, no process, no exec, no path but below its trees (openat2 beneath, Landlock), memory with a
 * ceiling. `cove` itself starts it too, for transactions (cli/txn*).
 *
 * Descriptors: 0, 1 as the verb says; 2: one line at a failure, an errno as a number, a space, a sentence; 3: reports, a JSON object a line,
 * {"progress":{"entries":N,"bytes":N}} at most ten a second, and {"result":{…}} before a good end; 4, 5, 6: the trees, in the order of the request.
 * Ends with 0, or with 1 and the line.
 *
 *   unpack [--digest sha256:HEX] [--diff-id sha256:HEX] [--max-bytes N] [--max-entries N]
 *          0: a layer (OCI: tar, plain or gzip or zstd, with whiteouts) is applied to tree 4 (rw). Result: entries, bytes, digest, diffId, mediaType.
 *          Members are cleaned (absolute ones become relative; ".." is refused), links followed beneath the tree only, device nodes and sockets
 *          refused or left out by a rule that is told, hard links only to what the tree has. A digest that differs: EBADMSG.
 *   flatten
 *          tree 4 (rw, a copy of the layer that the sandbox stands on) gets what tree 5 (ro, a disk) has changed: files by reflink. What the jail puts
 *          there (/dev, /proc, /sys, /run, /tmp, names in /etc) is left out. Result: entries, bytes.
 *   pack [--compress gzip|zstd|none]
 *          1: the differences of tree 4 (ro) against tree 5 (ro; none: everything) as an OCI layer. Result: entries, bytes, digest, diffId, size.
 *   changes [--patch] [--path P]… [--limit N] [--names]
 *          1: what disk tree 4 (ro) has changed against what it stands on, tree 5 (ro: a layer or template): a JSON object a line,
 *          {"path","change":"added|modified|deleted","type":"file|directory|link|other","size","mode","oldSize","oldMode","binary",…}, in order of paths;
 *          with --patch also "patch": the unified diff of text (libgit2), up to a size that is told. What the jail puts there is left out.
 *   export [--path P]…
 *          1: the same, as a tar with OCI whiteouts, for whoever applies it elsewhere.
 *   inspect [--user TEXT]
 *          Result: for USER of an image: uid, gid, home, shell out of tree 4's /etc/passwd and group; os-release's name; whether there is a shell;
 *          bytes and entries of the tree. */
#pragma once

#include "base/error.h"
