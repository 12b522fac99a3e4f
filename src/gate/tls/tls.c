#include "gate/tls/tls.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "gate/tls/authority-key.h"

struct Tls {
        unsigned n_refs; /* held by the gate, which may replace it, and by each session */
        SSL_CTX *server, *client;
        BIO_METHOD *socket; /* as OpenSSL's own, but without SIGPIPE */
};

struct TlsSession {
        Tls *tls;
        SSL *ssl;
        char host[256];
        bool wants_write, client;
};

static int socket_write(BIO *b, const char *data, int size) {
        ssize_t n = send((int) (intptr_t) BIO_get_data(b), data, (size_t) size, MSG_NOSIGNAL);

        BIO_clear_retry_flags(b);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                BIO_set_retry_write(b);
        return (int) n;
}

static int socket_read(BIO *b, char *data, int size) {
        ssize_t n = recv((int) (intptr_t) BIO_get_data(b), data, (size_t) size, 0);

        BIO_clear_retry_flags(b);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                BIO_set_retry_read(b);
        return (int) n;
}

static long socket_control(BIO *b, int command, long number, void *pointer) {
        return command == BIO_CTRL_FLUSH; /* nothing is buffered here; other commands are not supported */
}

static int tls_choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_size, const unsigned char *offered, unsigned n_offered,
                void *userdata) {
        static const unsigned char ours[] = "\x08http/1.1";

        if (SSL_select_next_proto((unsigned char **) ret, ret_size, ours, sizeof(ours) - 1, offered, n_offered) != OPENSSL_NPN_NEGOTIATED)
                return SSL_TLSEXT_ERR_ALERT_FATAL; /* a client that insists on HTTP/2 fails here, and not on garbage later */
        return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *tls_context_new(const SSL_METHOD *method) {
        SSL_CTX *c = SSL_CTX_new(method);

        if (!c)
                return NULL;
        (void) SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
        (void) SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
        (void) SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
        return c;
}

static int tls_make_server(Tls *t, Error *reterr) {
        t->server = tls_context_new(TLS_server_method());
        if (!t->server)
                return authority_failed(reterr, "set TLS up");
        (void) SSL_CTX_set_session_cache_mode(t->server, SSL_SESS_CACHE_OFF);
        (void) SSL_CTX_set_options(t->server, SSL_OP_NO_TICKET); /* sandboxes share these settings, not their sessions */
        (void) SSL_CTX_set_num_tickets(t->server, 0);
        SSL_CTX_set_alpn_select_cb(t->server, tls_choose_protocol, NULL);
        return 0;
}

/* There must be at least one certificate, and nothing else between them. */
static int tls_add_authorities(Tls *t, const char *authorities, Error *reterr) {
        X509_STORE *store = SSL_CTX_get_cert_store(t->client);
        BIO *in = BIO_new_mem_buf(authorities, -1);
        X509 *certificate;
        size_t n = 0;
        bool ended;

        while (in && (certificate = PEM_read_bio_X509(in, NULL, NULL, NULL))) {
                n += X509_STORE_add_cert(store, certificate) == 1;
                X509_free(certificate);
        }
        BIO_free(in);
        ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
        if (n == 0 || !ended) {
                (void) authority_failed(reterr, "read additional authorities");
                return -EINVAL;
        }
        ERR_clear_error();
        return 0;
}

static int tls_make_client(Tls *t, const char *authorities, Error *reterr) {
        t->client = tls_context_new(TLS_client_method());
        if (!t->client || SSL_CTX_set_alpn_protos(t->client, (const unsigned char *) "\x08http/1.1", 9) != 0)
                return authority_failed(reterr, "set TLS up");
        SSL_CTX_set_verify(t->client, SSL_VERIFY_PEER, NULL);
        if (SSL_CTX_set_default_verify_paths(t->client) != 1)
                return authority_failed(reterr, "read the host's trust store");
        ERR_clear_error(); /* left by a store that does not exist */
        return authorities ? tls_add_authorities(t, authorities, reterr) : 0;
}

static int tls_make_socket(Tls *t, Error *reterr) {
        t->socket = BIO_meth_new(BIO_TYPE_SOCKET | BIO_get_new_index(), "socket without signals");
        if (!t->socket || !BIO_meth_set_write(t->socket, socket_write) || !BIO_meth_set_read(t->socket, socket_read) ||
            !BIO_meth_set_ctrl(t->socket, socket_control))
                return authority_failed(reterr, "set TLS up");
        return 0;
}

Tls *tls_free(Tls *t) {
        if (!t || --t->n_refs > 0)
                return NULL;
        SSL_CTX_free(t->server);
        SSL_CTX_free(t->client);
        BIO_meth_free(t->socket);
        free(t);
        return NULL;
}

int tls_new(const char *authorities, Tls **ret, Error *reterr) {
        Tls *t = calloc(1, sizeof(Tls));
        int r;

        assert(ret);

        if (!t)
                return error_set(reterr, -ENOMEM, "Out of memory");
        t->n_refs = 1;
        r = tls_make_socket(t, reterr);
        if (r >= 0)
                r = tls_make_server(t, reterr);
        if (r >= 0)
                r = tls_make_client(t, authorities, reterr);
        if (r < 0) {
                (void) tls_free(t);
                return r;
        }
        *ret = t;
        return 0;
}

TlsSession *tls_session_free(TlsSession *s) {
        if (!s)
                return NULL;
        SSL_free(s->ssl);
        tls_free(s->tls);
        free(s);
        return NULL;
}

static int session_new(Tls *t, SSL_CTX *context, const char *host, int fd, TlsSession **ret) {
        TlsSession *s = calloc(1, sizeof(TlsSession));
        BIO *bio;

        if (!s || strlen(host) >= sizeof(s->host)) {
                free(s);
                return -ENOMEM;
        }
        strcpy(s->host, host);
        s->tls = t;
        t->n_refs++;
        s->ssl = SSL_new(context);
        bio = s->ssl ? BIO_new(t->socket) : NULL;
        if (!bio) {
                (void) tls_session_free(s);
                return -ENOMEM;
        }
        BIO_set_data(bio, (void *) (intptr_t) fd);
        BIO_set_init(bio, 1);
        SSL_set_bio(s->ssl, bio, bio);
        *ret = s;
        return 0;
}

int tls_accept(Tls *t, Authority *a, const char *host, int fd, TlsSession **ret) {
        X509 *certificate;
        EVP_PKEY *key;
        TlsSession *s;
        int r;

        assert(t);
        assert(ret);

        r = authority_leaf(a, host, &certificate, &key);
        if (r < 0)
                return r;
        r = session_new(t, t->server, host, fd, &s);
        if (r < 0)
                return r;
        if (SSL_use_certificate(s->ssl, certificate) != 1 || SSL_use_PrivateKey(s->ssl, key) != 1) {
                ERR_clear_error();
                (void) tls_session_free(s);
                return -EIO;
        }
        SSL_set_accept_state(s->ssl);
        *ret = s;
        return 0;
}

/* The certificate must be for this name, or this address. */
static int session_expect(TlsSession *s) {
        uint8_t address[16];
        bool by_number = inet_pton(AF_INET, s->host, address) == 1 || inet_pton(AF_INET6, s->host, address) == 1;

        if (by_number)
                return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(s->ssl), s->host);
        SSL_set_hostflags(s->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        return SSL_set1_host(s->ssl, s->host) == 1 && SSL_set_tlsext_host_name(s->ssl, s->host) == 1;
}

int tls_connect(Tls *t, const char *host, int fd, TlsSession **ret) {
        TlsSession *s;
        int r;

        assert(t);
        assert(host);
        assert(ret);

        r = session_new(t, t->client, host, fd, &s);
        if (r < 0)
                return r;
        s->client = true;
        if (session_expect(s) != 1) {
                ERR_clear_error();
                (void) tls_session_free(s);
                return -EINVAL;
        }
        SSL_set_connect_state(s->ssl);
        *ret = s;
        return 0;
}

/* Translates SSL_get_error() to an errno. Must directly follow the call. */
static int session_result(TlsSession *s, int r) {
        int saved = errno, e = SSL_get_error(s->ssl, r);

        s->wants_write = e == SSL_ERROR_WANT_WRITE;
        switch (e) {
        case SSL_ERROR_WANT_READ:
        case SSL_ERROR_WANT_WRITE:
                return -EAGAIN;
        case SSL_ERROR_ZERO_RETURN:
                return 0;
        case SSL_ERROR_SYSCALL:
                ERR_clear_error();
                return saved > 0 && saved != EAGAIN ? -saved : -ECONNRESET;
        default:
                return ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING ? -ECONNRESET : -EPROTO;
        }
}

static int session_explain(TlsSession *s, int r, Error *reterr) {
        long verified = SSL_get_verify_result(s->ssl);
        const char *reason = ERR_reason_error_string(ERR_peek_error());

        if (s->client && verified != X509_V_OK)
                r = error_set(reterr, -EKEYREJECTED, "the certificate of %s is not valid: %s", s->host, X509_verify_cert_error_string(verified));
        else if (r == -EPROTO)
                r = error_set(reterr, r, "TLS with %s failed: %s", s->host, reason ? reason : "no reason given");
        else
                r = error_set(reterr, r, "TLS with %s failed: %m", s->host);
        ERR_clear_error();
        return r;
}

int tls_handshake(TlsSession *s, Error *reterr) {
        int r;

        assert(s);

        ERR_clear_error();
        errno = 0;
        r = SSL_do_handshake(s->ssl);
        if (r == 1) {
                s->wants_write = false;
                return 0;
        }
        r = session_result(s, r);
        if (r == -EAGAIN)
                return r;
        return session_explain(s, r == 0 ? -ECONNRESET : r, reterr);
}

/* The result of an operation that has moved n bytes. */
static ssize_t session_moved(TlsSession *s, int r, size_t n) {
        if (r == 1) {
                s->wants_write = false;
                return (ssize_t) n;
        }
        r = session_result(s, r);
        ERR_clear_error();
        return r;
}

ssize_t tls_read(TlsSession *s, void *data, size_t size) {
        size_t n = 0;
        int r;

        assert(s);

        ERR_clear_error();
        errno = 0;
        r = SSL_read_ex(s->ssl, data, size, &n);
        return session_moved(s, r, n);
}

ssize_t tls_write(TlsSession *s, const void *data, size_t size) {
        size_t n = 0;
        ssize_t moved;
        int r;

        assert(s);

        ERR_clear_error();
        errno = 0;
        r = SSL_write_ex(s->ssl, data, size, &n);
        moved = session_moved(s, r, n);
        return r != 1 && moved == 0 ? -EPIPE : moved;
}

int tls_say_over(TlsSession *s) {
        int r;

        assert(s);

        if (!SSL_is_init_finished(s->ssl))
                return 0;
        ERR_clear_error();
        errno = 0;
        r = SSL_shutdown(s->ssl);
        if (r >= 0)
                return 0;
        r = session_result(s, r);
        ERR_clear_error();
        return r;
}

bool tls_wants_write(const TlsSession *s) {
        return s->wants_write;
}
