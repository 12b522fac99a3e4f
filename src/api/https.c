#include "api/https.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"

#define FILE_MAX ((size_t) 1 << 20)

struct Https {
        char *certificate_file, *key_file;
        SSL_CTX *context;
};

struct HttpsSession {
        SSL *ssl;
        bool wants_write;
};

/* Files. */

/* Reads the whole file, for a BIO. A pipe or a device could block the daemon. */
static int https_read_file(const char *path, char **ret, size_t *ret_size, Error *reterr) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        _cleanup_free_ char *data = NULL;
        size_t size = 0;
        struct stat st;

        if (fd < 0 && errno == EACCES)
                return error_set(reterr, -EACCES, "cannot read '%s': let the daemon's user (uid %u) read it", path, geteuid());
        if (fd < 0)
                return error_set(reterr, -errno, "cannot open '%s': %m", path);
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (size_t) st.st_size > FILE_MAX)
                return error_set(reterr, -EINVAL, "'%s' is not a file of at most 1 MB", path);
        data = malloc(FILE_MAX);
        if (!data)
                return error_set(reterr, -ENOMEM, "out of memory");
        for (ssize_t n; size < FILE_MAX; size += (size_t) n) {
                n = read(fd, data + size, FILE_MAX - size);
                if (n < 0)
                        return error_set(reterr, -errno, "cannot read '%s': %m", path);
                if (n == 0)
                        break;
        }
        *ret = TAKE_PTR(data);
        *ret_size = size;
        return 0;
}

/* Reports OpenSSL's last error. OpenSSL keeps a queue of errors, which must be empty before the next call
 * that is checked. */
static int https_refuse(Error *reterr, int code, const char *path, const char *what) {
        const char *why = ERR_reason_error_string(ERR_peek_last_error());

        (void) error_set(reterr, code, "'%s' %s%s%s%s", path, what, why ? " (" : "", why ? why : "", why ? ")" : "");
        ERR_clear_error();
        return code;
}

static void warn_of_age(const char *path, X509 *certificate) {
        if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
                log_warning("tls: the certificate in '%s' has expired: clients will refuse it", path);
        else if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
                log_warning("tls: the certificate in '%s' is not valid yet: clients will refuse it", path);
}

/* The first certificate is ours. The others form its chain. */
static int use_certificates(SSL_CTX *context, const char *path, BIO *in, Error *reterr) {
        X509 *certificate = PEM_read_bio_X509_AUX(in, NULL, NULL, NULL);
        int ok;

        if (!certificate)
                return https_refuse(reterr, -EINVAL, path, "holds no certificate in PEM");
        warn_of_age(path, certificate);
        ok = SSL_CTX_use_certificate(context, certificate);
        X509_free(certificate);
        while (ok == 1 && (certificate = PEM_read_bio_X509(in, NULL, NULL, NULL))) {
                ok = SSL_CTX_add1_chain_cert(context, certificate);
                X509_free(certificate);
        }
        if (ok != 1)
                return https_refuse(reterr, -EINVAL, path, "holds a certificate that cannot be used");
        if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
                return https_refuse(reterr, -EINVAL, path, "holds something that is no certificate in PEM");
        ERR_clear_error(); /* this error is the end of the file */
        return 0;
}

/* There is no user to ask for a passphrase. */
static int no_passphrase(char *ret, int size, int writing, void *userdata) {
        *(bool *) userdata = true;
        return -1;
}

static int use_key(SSL_CTX *context, const char *path, BIO *in, Error *reterr) {
        bool encrypted = false;
        EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, no_passphrase, &encrypted);
        int ok;

        if (!key && encrypted)
                return https_refuse(reterr, -EINVAL, path, "has a passphrase: take it away with `openssl pkey -in FILE -out FILE`");
        if (!key)
                return https_refuse(reterr, -EINVAL, path, "holds no key in PEM");
        ok = SSL_CTX_use_PrivateKey(context, key);
        EVP_PKEY_free(key);
        if (ok != 1 || SSL_CTX_check_private_key(context) != 1)
                return https_refuse(reterr, -EINVAL, path, "is not the key of the certificate");
        return 0;
}

/* Wipes the content of the file, which may be a key. */
static int use_file(SSL_CTX *context, const char *path, int (*use)(SSL_CTX *context, const char *path, BIO *in, Error *reterr), Error *reterr) {
        _cleanup_free_ char *data = NULL;
        size_t size = 0;
        BIO *in;
        int r = https_read_file(path, &data, &size, reterr);

        if (r < 0)
                return r;
        in = BIO_new_mem_buf(data, (int) size);
        r = in ? use(context, path, in, reterr) : error_set(reterr, -ENOMEM, "out of memory");
        BIO_free(in);
        OPENSSL_cleanse(data, size);
        return r;
}

static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_size, const unsigned char *offered, unsigned n_offered,
                void *userdata) {
        static const unsigned char ours[] = "\x08http/1.1";

        if (SSL_select_next_proto((unsigned char **) ret, ret_size, ours, sizeof(ours) - 1, offered, n_offered) != OPENSSL_NPN_NEGOTIATED)
                return SSL_TLSEXT_ERR_ALERT_FATAL; /* a client that requires HTTP/2 fails here */
        return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *https_context_new(void) {
        SSL_CTX *c = SSL_CTX_new(TLS_server_method());

        if (!c)
                return NULL;
        (void) SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
        (void) SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
        (void) SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
        (void) SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF); /* tickets suffice, and need no memory here */
        SSL_CTX_set_alpn_select_cb(c, choose_protocol, NULL);
        return c;
}

int https_read_again(Https *h, Error *reterr) {
        SSL_CTX *context = https_context_new();
        int r;

        if (!context)
                return https_refuse(reterr, -EIO, "TLS", "cannot be set up");
        r = use_file(context, h->certificate_file, use_certificates, reterr);
        if (r >= 0)
                r = use_file(context, h->key_file, use_key, reterr);
        if (r < 0) {
                SSL_CTX_free(context);
                return r;
        }
        SSL_CTX_free(h->context);
        h->context = context;
        return 0;
}

Https *https_free(Https *h) {
        if (!h)
                return NULL;
        SSL_CTX_free(h->context);
        free(h->certificate_file);
        free(h->key_file);
        free(h);
        return NULL;
}

int https_new(const char *certificate_file, const char *key_file, Https **ret, Error *reterr) {
        Https *h = calloc(1, sizeof(*h));
        int r;

        assert(ret);

        if (!h)
                return error_set(reterr, -ENOMEM, "out of memory");
        h->certificate_file = strdup(certificate_file);
        h->key_file = strdup(key_file);
        r = h->certificate_file && h->key_file ? https_read_again(h, reterr) : error_set(reterr, -ENOMEM, "out of memory");
        if (r < 0) {
                https_free(h);
                return r;
        }
        *ret = h;
        return 0;
}

/* Sessions. */

int https_accept(Https *h, int fd, HttpsSession **ret) {
        HttpsSession *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        s->ssl = SSL_new(h->context);
        if (!s->ssl || SSL_set_fd(s->ssl, fd) != 1) {
                ERR_clear_error();
                https_session_free(s);
                return -ENOMEM;
        }
        SSL_set_accept_state(s->ssl);
        *ret = s;
        return 0;
}

HttpsSession *https_session_free(HttpsSession *s) {
        if (!s)
                return NULL;
        SSL_free(s->ssl);
        free(s);
        return NULL;
}

/* Translates the result n of a call that did not do everything. */
static int result(HttpsSession *s, int n) {
        int why = SSL_get_error(s->ssl, n);

        s->wants_write = why == SSL_ERROR_WANT_WRITE;
        ERR_clear_error();
        return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? -EAGAIN : why == SSL_ERROR_ZERO_RETURN ? 0 : -ECONNRESET;
}

int https_handshake(HttpsSession *s) {
        int n = SSL_do_handshake(s->ssl), r = n == 1 ? 0 : result(s, n);

        return n != 1 && r == 0 ? -ECONNRESET : r;
}

ssize_t https_read(HttpsSession *s, void *data, size_t size) {
        size_t n;
        int k = SSL_read_ex(s->ssl, data, size, &n);

        return k == 1 ? (ssize_t) n : result(s, k);
}

ssize_t https_write(HttpsSession *s, const void *data, size_t size) {
        size_t n;
        int k = SSL_write_ex(s->ssl, data, size, &n), r;

        if (k == 1)
                return (ssize_t) n;
        r = result(s, k);
        return r == 0 ? -ECONNRESET : r;
}

void https_say_over(HttpsSession *s) {
        (void) SSL_shutdown(s->ssl);
        ERR_clear_error();
}

bool https_wants_write(const HttpsSession *s) {
        return s->wants_write;
}
