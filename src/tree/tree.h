/* tree.h: cove-tree, the program that works on the content of trees.
 *
 * It is a program of its own because it parses untrusted data with a large library (libarchive), and writes
 * ids that only root can. The spawner starts it (TREE_RUN of base/tree-request.h) as root of a user namespace
 * of its own, with capabilities over the given trees and nothing else. It confines itself before it reads a
 * byte: no network, no process, no exec, no path outside its trees (openat2 beneath, Landlock), memory with a
 * ceiling. `cove` also starts it, for transactions (cli/txn*).
 *
 * Descriptors: 0 and 1 depend on the verb. 2: on failure one line: an errno as a number, a space, a sentence.
 * 3: reports, one JSON object per line: {"progress":{"entries":N,"bytes":N}} at most ten a second, and
 * {"result":{…}} before a successful exit.
 * 4, 5, 6: the trees, in the order of the request.
 * Exits with 0, or with 1 and the line on 2.
 *
 *   unpack [--digest sha256:HEX] [--diff-id sha256:HEX] [--max-bytes N] [--max-entries N]
 *          0: a layer (OCI: tar, plain or gzip or zstd, with whiteouts) to apply to tree 4 (rw), by the rules of unpack.h.
 *          Result: entries, bytes, devicesLeftOut, size, digest, diffId, mediaType. EBADMSG: a digest differs, or the data is not a layer.
 *   flatten [--max-bytes N] [--max-entries N]
 *          Applies the changes of tree 5 (ro, a disk) to tree 4 (rw, a copy of the layer that the sandbox stands on); files by reflink.
 *          Left out are the files that the jail puts there (/dev, /proc, /sys, directories that a template lacks, name resolution).
 *          Files that a guest puts into /tmp and /run are included.
 *          Result: entries, bytes, devicesLeftOut. EOPNOTSUPP: the disk is of a sandbox on the host.
 *   pack [--compress gzip|zstd|none]
 *          1: the differences of tree 4 (ro) against tree 5 (ro; none: everything) as an OCI layer, by default gzip.
 *          The same trees give the same bytes. Result: entries, bytes, leftOut, size, digest, diffId, mediaType.
 *   changes [--patch] [--path P]… [--limit N] [--names] [--upper]
 *          1: the changes of disk tree 4 (ro) against its base, tree 5 (ro: a layer or template), one JSON object per line:
 *          {"path","change":"added|modified|deleted","type":"file|directory|link|other","oldType","mode","size","target","oldMode","oldSize",
 *          "oldTarget","uid","gid","oldUid","oldGid" (where they differ),"binary","patch","patchOmitted"}, in the order of names; modes are octal text.
 *          A file of which only the times differ has not changed. --patch: the unified diff of text (libgit2), for files up to 1 MB and 10 MB in all;
 *          patchOmitted says why there is none. --names: path, change and type only. --upper: tree 4 is itself the upper of an overlay
 *          (userxattr), and paths have no leading slash. Result: entries, truncated.
 *   export [--path P]… [--upper]
 *          1: the same changes as a tar with OCI whiteouts, to apply elsewhere. Result as of pack.
 *   inspect [--user TEXT]
 *          Result: for the USER of an image: uid, gid, name, home, shell from tree 4's /etc/passwd and group; osName (from os-release);
 *          hasShell; entries and bytes of the tree. ENOENT: no such user. */
#pragma once

#include "confine/program.h"

#define TREES_FIRST 4
#define TREES_MAX   3

extern const Program tree_program;
