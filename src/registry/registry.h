/* registry.h: cove-registry, the program that talks to image registries and reads image archives.
 *
 * It is a program of its own because it hashes and inflates gigabytes, which must not happen in the daemon's
 * loop, and because it parses untrusted data. coved starts it under its own user. It knows only blobs.
 *
 *   pull REFERENCE --blobs DIR [--platform OS/ARCH[/VARIANT]] [--insecure] [--outside] [--ca FILE] [--max-bytes N] [--stall SECONDS]
 *   push REFERENCE --blobs DIR --manifest DIGEST [--insecure] [--outside] [--ca FILE]
 *   import --blobs DIR [--format auto|oci|docker|rootfs] [--platform P] [--max-bytes N] [--reference NAME]
 *          0: a tar: an OCI layout, `docker save`, or a root directory; --reference: chooses one of several images
 *   describe --blobs DIR --config FILE --layer DIGEST:DIFFID:SIZE:MEDIATYPE…     writes config and manifest for given layers (commit, build), for push
 *
 * Environment: COVE_REGISTRY_AUTH "user:password" or "bearer TOKEN" (never in arguments). The proxy variables
 * are honoured (outbound/proxy.c).
 * REFERENCE has docker's syntax: [HOST[:PORT]/]NAME[:TAG][@DIGEST]. Without a host: docker.io. localhost and
 * 127.0.0.0/8 use http unless --ca or --insecure is given.
 * --outside: refuses this machine and link-local addresses, under any name.
 *
 * DIR has blobs as files: sha256-HEX, complete and verified, or sha256-HEX.part, resumed with Range after an
 * interruption; the digest is checked over all bytes. A blob that exists is not fetched again. Four are
 * fetched at once. Limits: manifest 4 MB, index 4 MB, config 8 MB, layers --max-bytes. If a server sends
 * less, more, or nothing for --stall seconds, the error names it. 5xx, resets and stalls are retried three
 * times with pauses, 429 after Retry-After.
 *
 * 1: one JSON object per line: {"progress":{"digest","bytes","total","layers","layersDone"}} at most ten a
 * second, then
 * {"result":{"reference","manifestDigest","configDigest","platform":"OS/ARCH","config":{…},"layers":[{"digest",
 * "diffId","size","mediaType"}],"size"}}. config has Env, WorkingDir, User, Entrypoint, Cmd, ExposedPorts,
 * Labels and Shell in OCI's form; all are present.
 * 2: on failure one line: an errno as a number, a space, a sentence that names the problem and the remedy.
 * Exits with 0 or 1. On SIGTERM it ends and keeps the parts. */
#pragma once

#include "base/error.h"
