#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "tunnel/tunnel.h"

#define NAMES_MAX 160
#define CURE_TRUST "if you trust it, give the certificate of its issuer with --cacert FILE or COVE_CACERT"

/* Certificates. */

/* A moment as a certificate has it, for people. */
static const char *tunnel_time(const ASN1_TIME *time, char ret[static 32]) {
        struct tm tm;

        if (ASN1_TIME_to_tm(time, &tm) != 1 || strftime(ret, 32, "%Y-%m-%d %H:%M UTC", &tm) == 0)
                strcpy(ret, "an unknown time");
        return ret;
}

static void tunnel_add_name(char ret[static NAMES_MAX], const GENERAL_NAME *name) {
        const ASN1_STRING *text = name->type == GEN_DNS ? name->d.dNSName : name->type == GEN_IPADD ? name->d.iPAddress : NULL;
        char word[64] = "";
        int n = text ? ASN1_STRING_length(text) : 0;
        size_t used = strlen(ret);

        if (n > 0 && name->type == GEN_DNS)
                (void) snprintf(word, sizeof(word), "%.*s", n, (const char *) ASN1_STRING_get0_data(text));
        else if (n == 4 || n == 16)
                (void) inet_ntop(n == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(text), word, sizeof(word));
        if (word[0] && used + strlen(word) + 3 < NAMES_MAX)
                (void) snprintf(ret + used, NAMES_MAX - used, "%s%s", used > 0 ? ", " : "", word);
}

/* Lists the first names; the common name counts only if there is no other. */
static void tunnel_names(X509 *certificate, char ret[static NAMES_MAX]) {
        GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);

        ret[0] = '\0';
        for (int i = 0; i < sk_GENERAL_NAME_num(names); i++)
                tunnel_add_name(ret, sk_GENERAL_NAME_value(names, i));
        if (!names)
                (void) X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, ret, NAMES_MAX);
        GENERAL_NAMES_free(names);
}

static int tunnel_explain_name(const TlsTunnel *t, X509 *certificate, Error *reterr) {
        char names[NAMES_MAX];

        tunnel_names(certificate, names);
        return error_set(reterr, -EKEYREJECTED, "%s: the certificate is for %s, and not for '%s': use one of its names in the URL", t->url,
                        names, t->words.operand);
}

static int tunnel_explain_issuer(const TlsTunnel *t, X509 *certificate, Error *reterr) {
        char issuer[80] = "";

        if (X509_NAME_get_text_by_NID(X509_get_issuer_name(certificate), NID_commonName, issuer, sizeof(issuer)) <= 0)
                (void) X509_NAME_get_text_by_NID(X509_get_issuer_name(certificate), NID_organizationName, issuer, sizeof(issuer));
        if (t->ca)
                return error_set(reterr, -EKEYREJECTED, "%s: the certificate comes from '%s', which '%s' does not hold", t->url, issuer, t->ca);
        return error_set(reterr, -EKEYREJECTED, "%s: the certificate comes from '%s', which this machine does not trust: " CURE_TRUST, t->url,
                        issuer);
}

static int tunnel_explain_age(const TlsTunnel *t, X509 *certificate, Error *reterr) {
        char when[32];

        if (X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0)
                return error_set(reterr, -EKEYEXPIRED, "%s: the certificate of an issuer has expired: renew it on the server", t->url);
        return error_set(reterr, -EKEYEXPIRED, "%s: the certificate expired on %s: renew it on the server", t->url,
                        tunnel_time(X509_get0_notAfter(certificate), when));
}

static int tunnel_explain_certificate(const TlsTunnel *t, long fault, Error *reterr) {
        X509 *certificate = t->refused;
        char when[32];

        switch (certificate ? fault : X509_V_OK) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
                return tunnel_explain_age(t, certificate, reterr);
        case X509_V_ERR_CERT_NOT_YET_VALID:
                return error_set(reterr, -EKEYEXPIRED, "%s: the certificate is not valid before %s: check the clocks of both machines", t->url,
                                tunnel_time(X509_get0_notBefore(certificate), when));
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
                return tunnel_explain_name(t, certificate, reterr);
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
                return error_set(reterr, -EKEYREJECTED,
                                "%s: the certificate is signed by itself: if you trust it, give a copy of it with --cacert FILE or COVE_CACERT", t->url);
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
                return tunnel_explain_issuer(t, certificate, reterr);
        default:
                return error_set(reterr, -EKEYREJECTED, "%s: the certificate cannot be trusted: %s", t->url, X509_verify_cert_error_string(fault));
        }
}

/* The protocol. */

static int tunnel_explain_protocol(const TlsTunnel *t, Error *reterr) {
        unsigned long first = ERR_peek_error();
        const char *reason = ERR_reason_error_string(first);
        int code = ERR_GET_LIB(first) == ERR_LIB_SSL ? ERR_GET_REASON(first) : 0;

        switch (t->established && code != SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED ? 0 : code) {
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_HTTP_REQUEST:
        case SSL_R_PACKET_LENGTH_TOO_LONG:
                return error_set(reterr, -EPROTO, "%s answers without TLS: use http:// in the URL", t->url);
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
                return error_set(reterr, -EPROTO, "%s wants a client certificate, and cove sends none: let the server ask for the API key only", t->url);
        case SSL_R_UNSUPPORTED_PROTOCOL:
        case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
                return error_set(reterr, -EPROTO, "%s speaks a TLS older than 1.2, which is not safe any more: update the server", t->url);
        default:
                return error_set(reterr, -EPROTO, "TLS with %s failed: %s", t->url, reason ? reason : "no reason given");
        }
}

int tunnel_explain(const TlsTunnel *t, int code, Error *reterr) {
        long fault = SSL_get_verify_result(t->ssl);

        if (fault != X509_V_OK)
                code = tunnel_explain_certificate(t, fault, reterr);
        else if (code == -EPROTO)
                code = tunnel_explain_protocol(t, reterr);
        else if (!t->established)
                code = error_set(reterr, code, "%s closed the connection in the TLS handshake: if it does not serve https, use http:// in the URL", t->url);
        else
                code = error_set(reterr, code, "the connection to %s broke off: %m", t->url);
        ERR_clear_error();
        return code;
}
