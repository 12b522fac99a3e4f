/* remote-login.c: authentication at a registry. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "json/json.h"
#include "registry/challenge.h"
#include "registry/document.h"
#include "registry/remote-internal.h"

#define LOGINS_MAX 8 /* tokens expire during long transfers */
#define TOKEN_MAX  (64 * 1024)
#define ANSWER_MAX (256 * 1024)

void remote_forget(char **secret) {
        if (*secret)
                explicit_bzero(*secret, strlen(*secret));
        free(*secret);
        *secret = NULL;
}

/* Whether a value is safe in a header: no control characters, so no further line. */
static bool is_printable(const char *text) {
        for (; *text; text++)
                if ((unsigned char) *text < ' ' || *text == 0x7f)
                        return false;
        return true;
}

int remote_take_credentials(Remote *r, Error *reterr) {
        char *given = getenv("COVE_REGISTRY_AUTH");
        _cleanup_free_ char *copy = NULL;
        char *colon;
        int e = 0;

        if (!given || !*given)
                return 0;
        copy = strdup(given);
        explicit_bzero(given, strlen(given)); /* /proc/PID/environ shows this very memory */
        (void) unsetenv("COVE_REGISTRY_AUTH");
        if (!copy)
                return error_set(reterr, -ENOMEM, "out of memory");
        colon = strchr(copy, ':');
        if (!is_printable(copy) || strlen(copy) > TOKEN_MAX)
                e = error_set(reterr, -EINVAL, "the credentials have control characters, or are too long");
        else if (strncasecmp(copy, "bearer ", 7) == 0) {
                r->bearer = strdup(copy + 7);
                e = r->bearer && asprintf(&r->authorization, "Bearer %s", r->bearer) > 0 ? 0 : error_set(reterr, -ENOMEM, "out of memory");
        } else if (!colon)
                e = error_set(reterr, -EINVAL, "the credentials are neither 'user:password' nor 'bearer TOKEN'");
        else {
                r->user = strndup(copy, (size_t) (colon - copy));
                r->password = strdup(colon + 1);
                e = r->user && r->password ? 0 : error_set(reterr, -ENOMEM, "out of memory");
        }
        explicit_bzero(copy, strlen(copy));
        return e;
}

static char *basic(const Remote *r) {
        _cleanup_free_ char *plain = NULL;
        char *value = NULL;
        size_t n;

        if (asprintf(&plain, "%s:%s", r->user, r->password) < 0)
                return NULL;
        n = strlen(plain);
        value = calloc(1, sizeof("Basic ") + BASE64_SIZE(n));
        if (value) {
                memcpy(value, "Basic ", 6);
                base64_encode(plain, n, value + 6);
        }
        explicit_bzero(plain, n);
        return value;
}

/* Our scope names what we are about to do. The registry's may contain more, and is added. */
static char *token_url(const Remote *r, const Challenge *c) {
        char scope[REFERENCE_NAME_MAX + 32];
        _cleanup_free_ char *service = outbound_escape(c->service), *ours = NULL, *theirs = NULL;
        char *url;

        (void) snprintf(scope, sizeof(scope), "repository:%s:%s", r->reference->name, r->push ? "pull,push" : "pull");
        ours = outbound_escape(scope);
        theirs = outbound_escape(c->scope);
        if (!service || !ours || !theirs)
                return NULL;
        return asprintf(&url, "%s%c%s%s%sscope=%s%s%s", c->realm, strchr(c->realm, '?') ? '&' : '?', c->service[0] ? "service=" : "", service,
                        c->service[0] ? "&" : "", ours, c->scope[0] && strcmp(c->scope, scope) != 0 ? "&scope=" : "",
                        c->scope[0] && strcmp(c->scope, scope) != 0 ? theirs : "") < 0
                       ? NULL
                       : url;
}

static int remote_login_take_token(Remote *r, const Exchange *x, Error *reterr) {
        _cleanup_json_ json_t *j = document_parse(x->answer.data, x->answer.size, NULL);
        const char *token = json_string_value(json_object_get(j, "token"));

        if (!token)
                token = json_string_value(json_object_get(j, "access_token"));
        if (!token || !*token || !is_printable(token) || strlen(token) > TOKEN_MAX)
                return error_set(reterr, -EPROTO, "'%.200s' answers without a token", x->url);
        remote_forget(&r->authorization);
        return asprintf(&r->authorization, "Bearer %s", token) > 0 ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

/* Does not use remote_ask(), which would call this again. */
static int ask_token(Remote *r, Exchange *x, Error *reterr) {
        for (unsigned tries = 0;;) {
                usec_t pause;
                int e = exchange_start(r->tokens, x, reterr);

                if (e < 0)
                        return e;
                while (!exchanges_wait(r->tokens, USEC_PER_SEC)) /* until it ends or times out */
                        ;
                if (x->error == 0 && x->status == 200)
                        return remote_login_take_token(r, x, reterr);
                pause = remote_retry_pause(x, tries++);
                if (pause == 0)
                        return remote_explain(r, x, "a token", reterr);
                (void) usleep((useconds_t) pause);
        }
}

static int login_bearer(Remote *r, const Challenge *c, Error *reterr) {
        _cleanup_exchange_ Exchange x = EXCHANGE_INIT;
        _cleanup_free_ char *url = NULL;
        char *password = NULL;
        int e;

        if (strncasecmp(c->realm, "https://", 8) != 0 && !(strncasecmp(c->realm, "http://", 7) == 0 && strncmp(r->base, "http://", 7) == 0))
                return error_set(reterr, -EPERM, "%s sends us to '%.200s' for a token, which is not reached by https", r->reference->host, c->realm);
        url = token_url(r, c);
        password = r->user ? basic(r) : NULL;
        if (!url || (r->user && !password)) {
                remote_forget(&password);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        x.url = url;
        x.authorization = password;
        x.answer_max = ANSWER_MAX;
        x.elsewhere = !outbound_same_origin(r->base, url);
        e = ask_token(r, &x, reterr);
        if (x.answer.data)
                explicit_bzero(x.answer.data, x.answer.size);
        remote_forget(&password);
        return e < 0 ? e : 1;
}

static int login_basic(Remote *r, Error *reterr) {
        remote_forget(&r->authorization);
        r->authorization = basic(r);
        return r->authorization ? 1 : error_set(reterr, -ENOMEM, "out of memory");
}

int remote_login(Remote *r, const Exchange *x, Error *reterr) {
        Challenge c;

        if (x->error < 0 || x->status != 401) {
                r->accepted |= x->error == 0;
                return 0;
        }
        if (x->login != r->login)
                return 1; /* another request has logged in again since this one was sent */
        if (!r->accepted || r->bearer || r->login >= LOGINS_MAX)
                return 0; /* credentials that were refused at once will always be refused */
        if (challenge_parse(x->challenge, &c) < 0 || c.scheme == CHALLENGE_UNKNOWN)
                return error_set(reterr, -EPROTO, "%s asks for credentials in a way that is not known: '%.100s'", r->reference->host, x->challenge);
        if (c.scheme == CHALLENGE_BASIC && !r->user)
                return 0;
        r->login++;
        r->accepted = false;
        return c.scheme == CHALLENGE_BEARER ? login_bearer(r, &c, reterr) : login_basic(r, reterr);
}
