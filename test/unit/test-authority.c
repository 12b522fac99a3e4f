/* A sandbox's authority: the same after a restart, another for another sandbox; and TLS with what it signs, over a socket pair. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "gate/tls/authority.h"
#include "gate/tls/tls.h"

static const uint8_t seed[32] = "0123456789abcdef0123456789abcde", other_seed[32] = "x";

static Authority *authority(const uint8_t s[static 32], const char *id) {
        Error error = { 0 };
        Authority *a = NULL;
        int r = authority_new(s, id, &a, &error);

        check_string("error", error.text, "");
        check_result("authority", r, 0);
        return a;
}

/* Both halves in turn, until both are through or one has failed. Returns the client's result. */
static int shake(TlsSession *server, TlsSession *client, Error *reterr) {
        int s = -EAGAIN, c = -EAGAIN;
        Error ignored;

        for (unsigned i = 0; i < 100 && (s == -EAGAIN || c == -EAGAIN); i++) {
                if (c == -EAGAIN)
                        c = tls_handshake(client, reterr);
                if (c < 0 && c != -EAGAIN)
                        return c;
                if (s == -EAGAIN)
                        s = tls_handshake(server, &ignored);
                if (s < 0 && s != -EAGAIN)
                        return s;
        }
        return c;
}

/* The guest trusts what `shown` says; the gate signs with `used`. */
static int meet(Authority *shown, Authority *used, const char *server_name, const char *client_name, Error *reterr) {
        _cleanup_free_ char *pem = authority_certificate(shown);
        Error error = { 0 };
        TlsSession *s = NULL, *c = NULL;
        Tls *tls = NULL;
        int fds[2], r;
        char buffer[64] = "";

        check_result("tls", tls_new(pem, &tls, &error), 0);
        check_int("sockets", socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
        check_result("accept", tls_accept(tls, used, server_name, fds[0], &s), 0);
        check_result("connect", tls_connect(tls, client_name, fds[1], &c), 0);
        r = shake(s, c, reterr);
        if (r == 0) {
                check_result("nothing yet", tls_read(s, buffer, sizeof(buffer)), -EAGAIN);
                check_int("write", tls_write(c, "hello", 5), 5);
                check_int("read", tls_read(s, buffer, sizeof(buffer)), 5);
                check_string("the same", buffer, "hello");
                check_result("over", tls_say_over(c), 0);
                check_int("end", tls_read(s, buffer, sizeof(buffer)), 0);
                fds[1] = fd_close(fds[1]);
        }
        s = tls_session_free(s);
        c = tls_session_free(c);
        tls = tls_free(tls);
        (void) fd_close(fds[0]);
        (void) fd_close(fds[1]);
        return r;
}

TEST(same_after_a_restart) {
        Authority *first = authority(seed, "sb-one"), *again = authority(seed, "sb-one");
        Error error = { 0 };

        check_result("signed after, trusted before", meet(first, again, "example.org", "example.org", &error), 0);
        check_result("and the other way round", meet(again, first, "a.b.example.org", "a.b.example.org", &error), 0);
        check_result("by number", meet(again, first, "192.0.2.7", "192.0.2.7", &error), 0);
        first = authority_free(first);
        again = authority_free(again);
}

TEST(another_sandbox_another_authority) {
        Authority *one = authority(seed, "sb-one"), *two = authority(seed, "sb-two"), *elsewhere = authority(other_seed, "sb-one");
        Error error = { 0 };

        check_result("another id", meet(one, two, "example.org", "example.org", &error), -EKEYREJECTED);
        check_part("says so", error.text, "certificate of example.org");
        check_result("another seed", meet(one, elsewhere, "example.org", "example.org", &error), -EKEYREJECTED);
        one = authority_free(one);
        two = authority_free(two);
        elsewhere = authority_free(elsewhere);
}

TEST(only_for_its_host) {
        Authority *a = authority(seed, "sb-one");
        Error error = { 0 };

        check_result("another name", meet(a, a, "example.org", "example.net", &error), -EKEYREJECTED);
        check_part("says so", error.text, "ostname mismatch");
        check_result("below it", meet(a, a, "example.org", "www.example.org", &error), -EKEYREJECTED);
        check_result("a number for a name", meet(a, a, "example.org", "192.0.2.1", &error), -EKEYREJECTED);
        a = authority_free(a);
}

TEST(leaves_are_kept_and_bounded) {
        Authority *a = authority(seed, "sb-one");
        struct x509_st *first, *again;
        struct evp_pkey_st *key;
        char host[300];

        check_result("first", authority_leaf(a, "example.org", &first, &key), 0);
        check_result("again", authority_leaf(a, "example.org", &again, &key), 0);
        check_true("the same", first == again);
        for (unsigned i = 0; i < AUTHORITY_LEAVES_MAX + 10; i++) {
                snprintf(host, sizeof(host), "h%u.example.org", i);
                check_result(host, authority_leaf(a, host, &first, &key), 0);
        }
        check_result("after it has gone", authority_leaf(a, "example.org", &again, &key), 0);

        check_result("no host", authority_leaf(a, "a,DNS:evil.org", &first, &key), -EINVAL);
        memset(host, 'a', sizeof(host));
        host[sizeof(host) - 1] = '\0';
        check_result("too long", authority_leaf(a, host, &first, &key), -EINVAL);
        snprintf(host, sizeof(host), "%0100d.%0100d.example.org", 1, 2);
        check_result("longer than a common name", authority_leaf(a, host, &first, &key), 0);
        a = authority_free(a);
}

TEST(authorities_that_are_none) {
        Authority *a = authority(seed, "sb-one");
        _cleanup_free_ char *pem = authority_certificate(a), *both = NULL;
        Error error = { 0 };
        Tls *tls = NULL;

        check_result("no PEM", tls_new("hello", &tls, &error), -EINVAL);
        check_part("says so", error.text, "additional authorities");
        check_result("damaged", tls_new("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", &tls, &error), -EINVAL);
        check_true("memory", asprintf(&both, "%s%s", pem, pem) > 0);
        check_result("twice the same", tls_new(both, &tls, &error), 0);
        tls = tls_free(tls);
        a = authority_free(a);
}
