#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "tunnel/tunnel.h"

#define HANDSHAKE_MAX (30 * USEC_PER_SEC)

/* Trust. */

static int tunnel_read_authorities(TlsTunnel *t, Error *reterr) {
        if (t->ca && access(t->ca, R_OK) < 0)
                return error_set(reterr, -errno, "--cacert: cannot read '%s': %m", t->ca);
        if (t->ca && SSL_CTX_load_verify_file(t->context, t->ca) != 1)
                return error_set(reterr, -EINVAL, "--cacert: '%s' holds no certificate in PEM", t->ca);
        /* Also SSL_CERT_FILE and SSL_CERT_DIR. */
        if (!t->ca && SSL_CTX_set_default_verify_paths(t->context) != 1)
                return error_set(reterr, -EIO, "cannot read this machine's trusted certificates: name one with --cacert FILE");
        ERR_clear_error(); /* a store that is not there */
        return 0;
}

/* OpenSSL does not keep the certificate that it refuses. */
static int tunnel_on_verify(int good, X509_STORE_CTX *store) {
        TlsTunnel *t = SSL_get_app_data((SSL *) X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
        X509 *certificate = X509_STORE_CTX_get0_cert(store);

        if (!good && !t->refused && certificate && X509_up_ref(certificate) == 1)
                t->refused = certificate;
        return good;
}

static int tunnel_make_context(TlsTunnel *t, Error *reterr) {
        t->context = SSL_CTX_new(TLS_client_method());
        if (!t->context)
                return error_set(reterr, -ENOMEM, "cannot set up TLS: out of memory");
        (void) SSL_CTX_set_min_proto_version(t->context, TLS1_2_VERSION);
        (void) SSL_CTX_set_options(t->context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
        (void) SSL_CTX_set_mode(t->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        SSL_CTX_set_verify(t->context, SSL_VERIFY_PEER, tunnel_on_verify);
        /* A user who names a server's own certificate trusts it, whether an authority signed it or not. */
        (void) X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(t->context), X509_V_FLAG_PARTIAL_CHAIN);
        return tunnel_read_authorities(t, reterr);
}

/* The certificate must be for this name, or this address. */
static int tunnel_expect(TlsTunnel *t) {
        const char *host = t->words.operand;
        unsigned char address[16];

        if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
                return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(t->ssl), host);
        SSL_set_hostflags(t->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        return SSL_set1_host(t->ssl, host) == 1 && SSL_set_tlsext_host_name(t->ssl, host) == 1;
}

static int tunnel_unblock(int fd) {
        int flags = fcntl(fd, F_GETFL);

        return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

int tunnel_prepare(TlsTunnel *t, Error *reterr) {
        int r = tunnel_make_context(t, reterr);

        if (r < 0)
                return r;
        if (tunnel_unblock(TUNNEL_NEAR) < 0 || tunnel_unblock(TUNNEL_FAR) < 0)
                return error_set(reterr, -EBADF, "cove-tls is started by cove, which gives it its sockets");
        t->ssl = SSL_new(t->context);
        if (!t->ssl || SSL_set_fd(t->ssl, TUNNEL_FAR) != 1 ||
                        SSL_set_alpn_protos(t->ssl, (const unsigned char *) "\x08http/1.1", 9) != 0)
                return error_set(reterr, -ENOMEM, "cannot set up TLS: out of memory");
        if (tunnel_expect(t) != 1)
                return error_set(reterr, -EINVAL, "%s: no certificate can be for the host '%s'", t->url, t->words.operand);
        (void) SSL_set_app_data(t->ssl, t);
        SSL_set_connect_state(t->ssl);
        return 0;
}

void tunnel_done(TlsTunnel *t) {
        X509_free(t->refused);
        SSL_free(t->ssl);
        SSL_CTX_free(t->context);
}

/* The session. */

/* Translates OpenSSL's result. Must directly follow the call. */
static int tunnel_result(TlsTunnel *t, int answer, short *ret_events) {
        int saved = errno, why = SSL_get_error(t->ssl, answer);

        *ret_events = why == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
        switch (why) {
        case SSL_ERROR_WANT_READ:
        case SSL_ERROR_WANT_WRITE:
                return -EAGAIN;
        case SSL_ERROR_ZERO_RETURN:
                return 0;
        case SSL_ERROR_SYSCALL:
                return saved > 0 && saved != EAGAIN ? -saved : -ECONNRESET;
        default:
                return ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING ? -ECONNRESET : -EPROTO;
        }
}

/* 0: there is something to do. */
static int tunnel_wait_handshake(TlsTunnel *t, short events, usec_t until, Error *reterr) {
        struct pollfd polls[] = { { .fd = TUNNEL_FAR, .events = events }, { .fd = TUNNEL_NEAR } };
        usec_t now = clock_usec();

        if (now >= until)
                return error_set(reterr, -ETIMEDOUT, "%s does not answer the TLS handshake within %llu s: check that it serves https", t->url,
                                (unsigned long long) (HANDSHAKE_MAX / USEC_PER_SEC));
        if (poll(polls, 2, (int) ((until - now) / USEC_PER_MSEC) + 1) < 0 && errno != EINTR)
                return error_set(reterr, -errno, "cannot wait for %s: %m", t->url);
        return polls[1].revents ? error_set(reterr, -EPIPE, "cove has gone") : 0;
}

int tunnel_handshake(TlsTunnel *t, Error *reterr) {
        usec_t until = clock_usec() + HANDSHAKE_MAX;
        short events;
        int r;

        do {
                int answer;

                ERR_clear_error();
                errno = 0;
                answer = SSL_do_handshake(t->ssl);
                t->established = answer == 1;
                if (t->established)
                        return 0;
                r = tunnel_result(t, answer, &events);
                if (r != -EAGAIN)
                        return tunnel_explain(t, r == 0 ? -ECONNRESET : r, reterr);
                r = tunnel_wait_handshake(t, events, until, reterr);
        } while (r >= 0);
        return r;
}

static ssize_t tunnel_moved(TlsTunnel *t, int answer, size_t n, short *ret_events, Error *reterr) {
        int r;

        if (answer == 1)
                return (ssize_t) n;
        r = tunnel_result(t, answer, ret_events);
        return r == -EAGAIN || r == 0 ? r : tunnel_explain(t, r, reterr);
}

ssize_t tunnel_read(TlsTunnel *t, void *data, size_t size, short *ret_events, Error *reterr) {
        size_t n = 0;
        int answer;

        ERR_clear_error();
        errno = 0;
        answer = SSL_read_ex(t->ssl, data, size, &n);
        return tunnel_moved(t, answer, n, ret_events, reterr);
}

ssize_t tunnel_write(TlsTunnel *t, const void *data, size_t size, short *ret_events, Error *reterr) {
        size_t n = 0;
        int answer;

        ERR_clear_error();
        errno = 0;
        answer = SSL_write_ex(t->ssl, data, size, &n);
        return tunnel_moved(t, answer, n, ret_events, reterr);
}

void tunnel_say_over(TlsTunnel *t) {
        (void) SSL_shutdown(t->ssl);
        ERR_clear_error();
}
