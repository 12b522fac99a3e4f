/* cove-tls: TLS between cove-client and a daemon; tunnel.h says how. */

#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "confine/filter.h"
#include "tunnel/tunnel.h"

#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

static const ProgramOption options[] = {
        { "--url", 1, false, program_set_text, offsetof(TlsTunnel, url) },
        { "--ca",  1, false, program_set_text, offsetof(TlsTunnel, ca)  },
};

static int tunnel_main_prepare(void *tunnel, Error *reterr) {
        TlsTunnel *t = tunnel;

        if (!t->url)
                return error_set(reterr, -EINVAL, "connect needs --url");
        return tunnel_prepare(t, reterr);
}

/* A server that takes over this process finds two sockets and the public certificates. */
static const struct sock_filter denied[] = {
        LOAD(nr),
        DENY(execve), DENY(execveat), DENY(socket), DENY(socketpair), DENY(connect), DENY(bind), DENY(listen), DENY(accept), DENY(accept4),
        DENY(ptrace), DENY(process_vm_readv), DENY(process_vm_writev), DENY(pidfd_open), DENY(kill), DENY(tkill), DENY(bpf), DENY(perf_event_open),
        DENY(userfaultfd), DENY(io_uring_setup), DENY(mount), DENY(umount2), DENY(unshare), DENY(setns), DENY(chroot), DENY(pivot_root),
        DENY(open_by_handle_at), DENY(add_key), DENY(request_key), DENY(keyctl), DENY(setuid), DENY(setgid), DENY(ioctl),
        ANSWER(SECCOMP_RET_ALLOW),
};

/* OpenSSL reads a directory of certificates during verification; certificate files have been read already. */
static void tunnel_walls(const void *tunnel, ProgramWalls *ret) {
        const TlsTunnel *t = tunnel;
        const char *const readable[] = { getenv("SSL_CERT_DIR"), X509_get_default_cert_dir(), "/etc/ssl", "/etc/pki", "/etc/ca-certificates",
                "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/dev/urandom", PROGRAM_SANITIZED ? "/proc" : NULL };

        *ret = (ProgramWalls) {
                .descriptors = 3,
                .descriptors_max = 32,
                .memory_max = UINT64_C(1) << 30,
                .forbidden.files = LANDLOCK_FILES,
                .filters = { { denied, ELEMENTSOF(denied) } },
                .no_processes = true,
        };
        for (size_t i = 0; i < ELEMENTSOF(readable); i++)
                if (readable[i] && (!t->ca || PROGRAM_SANITIZED))
                        ret->rules[ret->n_rules++] = (LandlockRule) { .path = readable[i], .access = FS_READ, .optional = true };
}

static int tunnel_connect(void *tunnel, Error *reterr) {
        int r = tunnel_handshake(tunnel, reterr);

        return r < 0 ? r : tunnel_relay(tunnel, reterr);
}

int main(int argc, char **argv) {
        static const ProgramVerb verbs[] = { { "connect", tunnel_connect, "a host" } };
        static const Program program = { "cove-tls", verbs, ELEMENTSOF(verbs), options, ELEMENTSOF(options), tunnel_main_prepare, tunnel_walls };
        TlsTunnel t = { 0 };
        int status = program_main(&program, argc, argv, &t);

        tunnel_done(&t);
        return status;
}
