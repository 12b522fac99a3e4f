#include "gate/tls/authority-key.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"

#define DERIVED_SIZE 48 /* half as much again as the key, so that the remainder is nearly uniform */

DEFINE_CLEANUP(EVP_KDF, EVP_KDF_free)
DEFINE_CLEANUP(EVP_KDF_CTX, EVP_KDF_CTX_free)
DEFINE_CLEANUP(EVP_PKEY_CTX, EVP_PKEY_CTX_free)
DEFINE_CLEANUP(BN_CTX, BN_CTX_free)
DEFINE_CLEANUP(BIGNUM, BN_clear_free)
DEFINE_CLEANUP(EC_GROUP, EC_GROUP_free)
DEFINE_CLEANUP(EC_POINT, EC_POINT_free)
DEFINE_CLEANUP(OSSL_PARAM_BLD, OSSL_PARAM_BLD_free)
DEFINE_CLEANUP(OSSL_PARAM, OSSL_PARAM_free)
DEFINE_CLEANUP(X509, X509_free)
DEFINE_CLEANUP(X509_EXTENSION, X509_EXTENSION_free)

int authority_failed(Error *reterr, const char *what) {
        unsigned long code = ERR_peek_last_error();
        char text[160] = "no reason given";

        if (code != 0)
                ERR_error_string_n(code, text, sizeof(text));
        ERR_clear_error();
        return error_set(reterr, -EIO, "Cannot %s: %s", what, text);
}

/* HKDF-SHA256 of the seed for "cove authority" and the id. */
static int derive_bytes(const uint8_t seed[static 32], const char *id, uint8_t ret[static DERIVED_SIZE]) {
        static const char purpose[] = "cove authority";
        _cleanup_(EVP_KDF_freep) EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
        _cleanup_(EVP_KDF_CTX_freep) EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
        char info[128];
        int n = snprintf(info, sizeof(info), "%s%s", purpose, id);
        OSSL_PARAM params[] = {
                OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *) "SHA256", 0),
                OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *) seed, 32),
                OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info, (size_t) n),
                OSSL_PARAM_construct_end(),
        };

        if (n < 0 || (size_t) n >= sizeof(info))
                return -EINVAL;
        return context && EVP_KDF_derive(context, ret, DERIVED_SIZE, params) > 0 ? 0 : -EIO;
}

/* 1 … order-1 */
static BIGNUM *derive_private(const EC_GROUP *group, const uint8_t bytes[static DERIVED_SIZE]) {
        _cleanup_(BN_CTX_freep) BN_CTX *context = BN_CTX_new();
        _cleanup_(BN_clear_freep) BIGNUM *wide = BN_bin2bn(bytes, DERIVED_SIZE, NULL), *below = BN_dup(EC_GROUP_get0_order(group)), *key = BN_secure_new();

        if (!context || !wide || !below || !key || !BN_sub_word(below, 1) || !BN_mod(key, wide, below, context) || !BN_add_word(key, 1))
                return NULL;
        return TAKE_PTR(key);
}

static int public_of(const EC_GROUP *group, const BIGNUM *private, uint8_t ret[static 65]) {
        _cleanup_(BN_CTX_freep) BN_CTX *context = BN_CTX_new();
        _cleanup_(EC_POINT_freep) EC_POINT *point = EC_POINT_new(group);

        if (!context || !point || !EC_POINT_mul(group, point, private, NULL, NULL, context))
                return -EIO;
        return EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, ret, 65, context) == 65 ? 0 : -EIO;
}

static EVP_PKEY *key_from(const BIGNUM *private, const uint8_t public[static 65]) {
        _cleanup_(OSSL_PARAM_BLD_freep) OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
        _cleanup_(EVP_PKEY_CTX_freep) EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
        _cleanup_(OSSL_PARAM_freep) OSSL_PARAM *params = NULL;
        EVP_PKEY *key = NULL;

        if (!build || !context || !OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) ||
            !OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_PRIV_KEY, private) ||
            !OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, public, 65))
                return NULL;
        params = OSSL_PARAM_BLD_to_param(build);
        if (!params || EVP_PKEY_fromdata_init(context) <= 0 || EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, params) <= 0)
                return NULL;
        return key;
}

int authority_key_derive(const uint8_t seed[static 32], const char *id, EVP_PKEY **ret, Error *reterr) {
        _cleanup_(EC_GROUP_freep) EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
        _cleanup_(BN_clear_freep) BIGNUM *private = NULL;
        uint8_t bytes[DERIVED_SIZE], public[65];
        EVP_PKEY *key = NULL;

        assert(id);
        assert(ret);

        if (group && derive_bytes(seed, id, bytes) >= 0)
                private = derive_private(group, bytes);
        OPENSSL_cleanse(bytes, sizeof(bytes));
        if (private && public_of(group, private, public) >= 0)
                key = key_from(private, public);
        if (!key)
                return authority_failed(reterr, "derive the key of an authority");
        *ret = key;
        return 0;
}

int authority_key_new(EVP_PKEY **ret, Error *reterr) {
        EVP_PKEY *key = EVP_EC_gen("P-256");

        if (!key)
                return authority_failed(reterr, "make a key");
        *ret = key;
        return 0;
}

static bool add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
        _cleanup_(X509_EXTENSION_freep) X509_EXTENSION *extension = NULL;
        X509V3_CTX context;

        X509V3_set_ctx_nodb(&context);
        X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
        extension = X509V3_EXT_nconf_nid(NULL, &context, nid, value);
        return extension && X509_add_ext(certificate, extension, -1);
}

static bool add_extensions(X509 *certificate, const CertificateSpec *spec) {
        X509 *issuer = spec->issuer ? spec->issuer : certificate;
        char names[300];
        uint8_t address[16];
        bool by_number;

        if (!add_extension(certificate, issuer, NID_subject_key_identifier, "hash") ||
            !add_extension(certificate, issuer, NID_authority_key_identifier, "keyid"))
                return false;
        if (!spec->host)
                return add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                        add_extension(certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
        by_number = inet_pton(AF_INET, spec->host, address) == 1 || inet_pton(AF_INET6, spec->host, address) == 1;
        (void) snprintf(names, sizeof(names), "%s:%s", by_number ? "IP" : "DNS", spec->host);
        return add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
                add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature") &&
                add_extension(certificate, issuer, NID_ext_key_usage, "serverAuth") &&
                add_extension(certificate, issuer, NID_subject_alt_name, names);
}

static bool set_subject(X509 *certificate, const char *text) {
        X509_NAME *name = X509_get_subject_name(certificate);

        /* A common name has at most 64 characters; a longer host is in the alternative names anyhow. */
        return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *) text, (int) strnlen(text, 64), -1, 0) == 1;
}

static bool set_serial(X509 *certificate) {
        uint8_t bytes[16];
        _cleanup_(BN_clear_freep) BIGNUM *number = NULL;

        if (RAND_bytes(bytes, sizeof(bytes)) != 1)
                return false;
        bytes[0] = (bytes[0] & 0x7f) | 0x40;
        number = BN_bin2bn(bytes, sizeof(bytes), NULL);
        return number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
}

int authority_certificate_new(const CertificateSpec *spec, X509 **ret, Error *reterr) {
        _cleanup_(X509_freep) X509 *certificate = X509_new();

        assert(spec);
        assert(ret);

        if (!certificate || !X509_set_version(certificate, X509_VERSION_3) || !set_serial(certificate) || !set_subject(certificate, spec->subject) ||
            !X509_set_issuer_name(certificate, X509_get_subject_name(spec->issuer ? spec->issuer : certificate)) ||
            !ASN1_TIME_set(X509_getm_notBefore(certificate), spec->from) || !ASN1_TIME_set(X509_getm_notAfter(certificate), spec->until) ||
            !X509_set_pubkey(certificate, spec->key) || !add_extensions(certificate, spec) ||
            !X509_sign(certificate, spec->issuer_key, EVP_sha256()))
                return authority_failed(reterr, "make a certificate");
        *ret = TAKE_PTR(certificate);
        return 0;
}
