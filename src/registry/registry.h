/* registry.h: cove-registry, the program that speaks to image registries and reads image archives.
 *
 * A program of its own, because it hashes and inflates gigabytes, which must not happen in the daemon's loop, and reads what strangers wrote. coved starts it,
 * as its own user; it knows blobs and nothing else.
 *
 *   pull REFERENCE --blobs DIR [--platform OS/ARCH[/VARIANT]] [--insecure] [--outside] [--ca FILE] [--max-bytes N] [--stall SECONDS]
 *   push REFERENCE --blobs DIR --manifest DIGEST [--insecure] [--outside] [--ca FILE]
 *   import --blobs DIR [--format auto|oci|docker|rootfs] [--platform P] [--max-bytes N] [--reference NAME]
 *          0: a tar: an OCI layout, `docker save`, or a root directory; --reference: which of several
 *   describe --blobs DIR --config FILE --layer DIGEST:DIFFID:SIZE:MEDIATYPE…     makes config and manifest out of parts (commit, build), for push
 *
 * Environment: COVE_REGISTRY_AUTH "user:password" or "bearer TOKEN" (never in arguments). Proxies of the environment count (outbound/proxy.c).
 * REFERENCE as docker has it: [HOST[:PORT]/]NAME[:TAG][@DIGEST]; no host: docker.io; localhost and 127.0.0.0/8 are insecure (http) by themselves.
 * --outside: not this machine and no link-local address, by whatever name.
 *
 * DIR: blobs as files, sha256-HEX, complete and checked, or sha256-HEX.part (gone on with by Range after a break, digest checked over all). A blob that
 * is there is not fetched again. Four at once. Bounded: manifest 4 MB, index 4 MB, config 8 MB, layers by --max-bytes; a server that sends less, more or nothing for
 * `stall` seconds is a failure that names it; 5xx, resets and stalls are tried again three times with pauses, 429 after Retry-After.
 *
 * 1: a JSON object a line: {"progress":{"digest","bytes","total","layers","layersDone"}} at most ten a second, then {"result":{"reference","manifestDigest",
 * "configDigest","platform":"OS/ARCH","config":
 * {Env, WorkingDir, User, Entrypoint, Cmd, ExposedPorts, Labels, Shell: all there, as OCI has them},"layers":[{"digest","diffId","size","mediaType"}],"size"}}.
 * 2: at a failure one line, an errno as a number, a space, a sentence that names what and the cure. Ends with 0 or 1; TERM: it ends, parts stay. */
#pragma once

#include "base/error.h"
