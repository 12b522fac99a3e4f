/* Placeholders and values: where they go in, where they come out, and every place they can be cut at. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gate/credential/credential.h"
#include "spell-model.h"

#define GITHUB "cove-github-0123456789ab"
#define OTHER  "cove-other-ba9876543210"
#define VALUE  "s3cr\"t/va lue+"

static Credentials *make(const char *text) {
        json_t *list = json_loads(text, 0, NULL);
        Credentials *c = NULL;
        Error error = { 0 };
        int r;

        check_true("json", list != NULL);
        r = credentials_parse(list, &c, &error);
        check_string("error", error.text, "");
        check_result("parse", r, 0);
        json_decref(list);
        return c;
}

static Credentials *usual(void) {
        return make("[{\"name\":\"github\",\"placeholder\":\"" GITHUB "\",\"value\":\"s3cr\\\"t/va lue+\",\"domain\":\"api.github.com\","
                    "\"in\":[\"header\",\"query\",\"body\"],\"headers\":[\"Authorization\",\"X-Token\"]},"
                    "{\"name\":\"github\",\"placeholder\":\"" GITHUB "\",\"value\":\"s3cr\\\"t/va lue+\",\"domain\":\"uploads.github.com\"},"
                    "{\"name\":\"other\",\"placeholder\":\"" OTHER "\",\"value\":\"another-value\",\"domain\":\"*.example.org\",\"in\":[\"header\"]}]");
}

/* Through a filter in portions. */
static void pass(CredentialFilter *f, const char *text, size_t portion, char *ret, size_t room) {
        Text out = TEXT_INIT(room - 1);
        size_t size = strlen(text);

        for (size_t at = 0; at < size; at += portion)
                check_result("feed", credential_filter_feed(f, text + at, MIN_OF(portion, size - at), /* last= */ false, &out), 0);
        check_result("end", credential_filter_feed(f, NULL, 0, /* last= */ true, &out), 0);
        memcpy(ret, out.data ? out.data : "", out.size);
        ret[out.size] = '\0';
        text_wipe(&out);
}

TEST(which_hosts) {
        Credentials *c = usual();

        check_true("exact", credentials_want(c, "api.github.com"));
        check_true("below", credentials_want(c, "a.b.example.org"));
        check_true("not the suffix itself", !credentials_want(c, "example.org"));
        check_true("not below an exact one", !credentials_want(c, "x.api.github.com"));
        check_true("not another", !credentials_want(c, "evilapi.github.com"));
        check_true("no host", !credentials_want(c, NULL));
        check_true("no credentials", !credentials_want(NULL, "a"));
        check_true("in body", credentials_want_in(c, "api.github.com", CREDENTIAL_BODY));
        check_true("not in body", !credentials_want_in(c, "uploads.github.com", CREDENTIAL_BODY));
        c = credentials_free(c);
}

TEST(refused) {
        static const struct {
                const char *text, *part;
        } cases[] = {
                { "{}", "must be a list" },
                { "[{}]", "credentials[0]: name" },
                { "[{\"name\":\"a\",\"placeholder\":\"short\",\"domain\":\"a.b\",\"value\":\"abcd\"}]", "placeholder" },
                { "[{\"name\":\"a\",\"placeholder\":\"white space inside\",\"domain\":\"a.b\",\"value\":\"abcd\"}]", "placeholder" },
                { "[{\"name\":\"a\",\"placeholder\":\"cove-0123456789\",\"domain\":\"*\",\"value\":\"abcd\"}]", "domain" },
                { "[{\"name\":\"a\",\"placeholder\":\"cove-0123456789\",\"domain\":\"a b\",\"value\":\"abcd\"}]", "domain" },
                { "[{\"name\":\"a\",\"placeholder\":\"cove-0123456789\",\"domain\":\"a.b\",\"value\":\"abc\"}]", "value" },
                { "[{\"name\":\"a\",\"placeholder\":\"cove-0123456789\",\"domain\":\"a.b\",\"value\":\"abcd\",\"in\":[\"path\"]}]", "in[0]" },
                { "[{\"name\":\"a\",\"placeholder\":\"cove-0123456789\",\"domain\":\"a.b\",\"value\":\"abcd\",\"in\":[]}]", "in: must" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                json_t *list = json_loads(cases[i].text, 0, NULL);
                Credentials *c = NULL;
                Error error = { 0 };

                check_result(cases[i].text, credentials_parse(list, &c, &error), -EINVAL);
                check_part(cases[i].text, error.text, cases[i].part);
                check_true("no value in an error", !strstr(error.text, "abcd"));
                json_decref(list);
        }
}

TEST(nothing) {
        _cleanup_json_ json_t *empty = json_array();
        Credentials *c = (Credentials *) 1;
        Error error;

        check_result("empty", credentials_parse(empty, &c, &error), 0);
        check_true("none", !c);
}

TEST(values_are_wiped_from_the_list) {
        _cleanup_json_ json_t *list = json_loads("[{\"name\":\"a\",\"placeholder\":\"cove-0123456789\",\"domain\":\"a.b\",\"value\":\"abcd\"}]", 0, NULL);
        Credentials *c = NULL;
        Error error;

        check_result("parse", credentials_parse(list, &c, &error), 0);
        check_string("wiped", json_string_value(json_object_get(json_array_get(list, 0), "value")), "");
        c = credentials_free(c);
}

TEST(fill_cut_anywhere) {
        static const char text[] = "a=" GITHUB "&b=" GITHUB GITHUB "cove-github-012345678&" OTHER " cove-github-0123456789a";
        static const char expected[] = "a=" VALUE "&b=" VALUE VALUE "cove-github-012345678&" OTHER " cove-github-0123456789a";
        Credentials *c = usual();

        for (size_t portion = 1; portion < sizeof(text); portion++) {
                CredentialFilter *f = NULL;
                char out[1024];

                check_result("new", credential_filter_new_fill(c, "api.github.com", CREDENTIAL_BODY, CREDENTIAL_PLAIN, &f), 0);
                pass(f, text, portion, out, sizeof(out));
                check_string("filled", out, expected);
                check_string("hit", credential_filter_hit(f), "github");
                f = credential_filter_free(f);
        }
        c = credentials_free(c);
}

TEST(fill_forms) {
        static const struct {
                const char *type, *expected;
        } cases[] = {
                { NULL, VALUE },
                { "text/plain", VALUE },
                { "application/x-www-form-urlencoded", "s3cr%22t%2Fva%20lue%2B" },
                { "APPLICATION/X-WWW-FORM-URLENCODED; charset=utf-8", "s3cr%22t%2Fva%20lue%2B" },
                { "application/json", "s3cr\\\"t/va lue+" },
                { "application/vnd.x+json; a=b", "s3cr\\\"t/va lue+" },
        };
        Credentials *c = usual();

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                CredentialFilter *f = NULL;
                char out[1024];

                check_result("new", credential_filter_new_fill(c, "api.github.com", CREDENTIAL_BODY, credential_form_of(cases[i].type), &f), 0);
                pass(f, GITHUB, 7, out, sizeof(out));
                check_string("filled", out, cases[i].expected);
                f = credential_filter_free(f);
        }
        c = credentials_free(c);
}

TEST(mask_cut_anywhere) {
        static const char text[] = "x" VALUE "y s3cr\\\"t/va lue+ s3cr%22t%2Fva%20lue%2B " VALUE VALUE " s3cr";
        static const char expected[] = "x" GITHUB "y " GITHUB " " GITHUB " " GITHUB GITHUB " s3cr";
        Credentials *c = usual();

        for (size_t portion = 1; portion < sizeof(text); portion++) {
                CredentialFilter *f = NULL;
                char out[1024];

                check_result("new", credential_filter_new_mask(c, "api.github.com", false, &f), 0);
                pass(f, text, portion, out, sizeof(out));
                check_string("masked", out, expected);
                f = credential_filter_free(f);
        }
        c = credentials_free(c);
}

TEST(mask_same_length) {
        Credentials *c = usual();
        CredentialFilter *f = NULL;
        char out[1024];

        check_result("new", credential_filter_new_mask(c, "api.github.com", true, &f), 0);
        pass(f, "x" VALUE "y", 3, out, sizeof(out));
        check_string("masked", out, "x**************y");
        f = credential_filter_free(f);
        c = credentials_free(c);
}

TEST(mask_base64) {
        static const char *const before[] = { "", "a", "ab", "abc", "user:", "x-token:" };
        Credentials *c = usual();

        for (size_t i = 0; i < ELEMENTSOF(before); i++) {
                char plain[128], letters[256] = "", out[1024], again[1024];
                CredentialFilter *f = NULL;

                (void) snprintf(plain, sizeof(plain), "%s" VALUE "tail", before[i]);
                base64_encode(plain, strlen(plain), letters);
                check_result("new", credential_filter_new_mask(c, "api.github.com", false, &f), 0);
                pass(f, letters, 5, out, sizeof(out));
                check_true(before[i], strstr(out, "*************") != NULL);
                check_uint("length", strlen(out), strlen(letters));
                f = credential_filter_free(f);

                check_result("another host's", credential_filter_new_mask(c, "a.example.org", false, &f), 0);
                pass(f, letters, 5, again, sizeof(again));
                check_string("is not touched", again, letters);
                f = credential_filter_free(f);
        }
        c = credentials_free(c);
}

/* One value is the beginning of another: the longer one counts, wherever it is cut. */
TEST(longest_first) {
        Credentials *c = make("[{\"name\":\"a\",\"placeholder\":\"cove-a-0123456789\",\"domain\":\"h.org\",\"value\":\"token\"},"
                              "{\"name\":\"b\",\"placeholder\":\"cove-b-0123456789\",\"domain\":\"h.org\",\"value\":\"token-longer\"}]");

        for (size_t portion = 1; portion < 40; portion++) {
                CredentialFilter *f = NULL;
                char out[256];

                check_result("new", credential_filter_new_mask(c, "h.org", false, &f), 0);
                pass(f, "token-longer token-long token-", portion, out, sizeof(out));
                check_string("masked", out, "cove-b-0123456789 cove-a-0123456789-long cove-a-0123456789-");
                f = credential_filter_free(f);
        }
        c = credentials_free(c);
}

TEST(fields) {
        static const struct {
                const char *name, *value, *expected;
                int result;
        } cases[] = {
                { "Authorization", "Bearer " GITHUB, "Bearer " VALUE, 1 },
                { "X-Token", GITHUB, VALUE, 1 },
                { "X-Token", "nothing", "nothing", 0 },
                { "X-Toke", GITHUB, GITHUB, 0 },
                { "X-Token-2", GITHUB, GITHUB, 0 },
                { "X-Request-Id", GITHUB, GITHUB, 0 },
                { "X-Token", OTHER, OTHER, 0 },
                /* user:placeholder and user:value */
                { "Authorization", "Basic dXNlcjpjb3ZlLWdpdGh1Yi0wMTIzNDU2Nzg5YWI=", "Basic dXNlcjpzM2NyInQvdmEgbHVlKw==", 1 },
                { "authorization", "basic  dXNlcjpjb3ZlLWdpdGh1Yi0wMTIzNDU2Nzg5YWI", "Basic dXNlcjpzM2NyInQvdmEgbHVlKw==", 1 },
                { "Authorization", "Basic dXNlcjpwYXNz", "Basic dXNlcjpwYXNz", 0 },
                { "Authorization", "Basic !!!", "Basic !!!", 0 },
                { "X-Other", "Basic dXNlcjpjb3ZlLWdpdGh1Yi0wMTIzNDU2Nzg5YWI=", "Basic dXNlcjpjb3ZlLWdpdGh1Yi0wMTIzNDU2Nzg5YWI=", 0 },
        };
        Credentials *c = usual();
        CredentialFilter *f = NULL;

        check_result("new", credential_filter_new_fill(c, "api.github.com", CREDENTIAL_HEADER, CREDENTIAL_PLAIN, &f), 0);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                HttpField field = { .name = cases[i].name, .value = cases[i].value };
                Text out = TEXT_INIT(1024);

                check_result(cases[i].value, credential_fill_field(f, &field, &out), cases[i].result);
                text_put(&out, "", 1);
                check_string(cases[i].value, out.data, cases[i].expected);
                text_wipe(&out);
        }
        f = credential_filter_free(f);
        c = credentials_free(c);
}

TEST(no_line_breaks_in_headers) {
        Credentials *c = make("[{\"name\":\"a\",\"placeholder\":\"cove-a-0123456789\",\"domain\":\"h.org\",\"value\":\"a\\r\\nEvil: yes\"}]");
        HttpField field = { .name = "Authorization", .value = "cove-a-0123456789" };
        Text out = TEXT_INIT(1024);
        CredentialFilter *f = NULL;

        check_result("new", credential_filter_new_fill(c, "h.org", CREDENTIAL_HEADER, CREDENTIAL_PLAIN, &f), 0);
        check_result("refused", credential_fill_field(f, &field, &out), -EINVAL);
        f = credential_filter_free(f);
        text_wipe(&out);
        c = credentials_free(c);
}

/* Whose placeholder stands there, at this host? */
static void check_find(const char *what, Credentials *c, const char *host, const HttpField *field, const char *expected) {
        CredentialFilter *f = NULL;

        check_result(what, credential_filter_new_find(c, host, &f), 0);
        check_int(what, credential_find_field(f, field), expected != NULL);
        if (expected)
                check_string(what, credential_filter_hit(f), expected);
        f = credential_filter_free(f);
}

TEST(misplaced) {
        HttpField basic = { .name = "Authorization", .value = "Basic dXNlcjpjb3ZlLWdpdGh1Yi0wMTIzNDU2Nzg5YWI=" };
        HttpField plain = { .name = "X", .value = "a " GITHUB }, other = { .name = "X", .value = OTHER }, none = { .name = "X", .value = "cove-" };
        Credentials *c = usual();
        CredentialFilter *f = NULL;

        check_find("at home", c, "api.github.com", &plain, NULL);
        check_find("at its other home", c, "uploads.github.com", &plain, NULL);
        check_find("elsewhere", c, "evil.org", &plain, "github");
        check_find("nowhere", c, NULL, &plain, "github");
        check_find("basic at home", c, "api.github.com", &basic, NULL);
        check_find("basic elsewhere", c, "evil.org", &basic, "github");
        check_find("another's", c, "api.github.com", &other, "other");
        check_find("nothing", c, NULL, &none, NULL);
        check_result("new", credential_filter_new_find(c, NULL, &f), 0);
        check_true("text", credential_find_text(f, "q=" OTHER));
        check_true("is forgotten", !credential_find_text(f, "q=cove-"));
        f = credential_filter_free(f);
        c = credentials_free(c);
}

TEST(many_and_large) {
        Text list = TEXT_INIT(1 << 20), big = TEXT_INIT(4 << 20), out = TEXT_INIT(8 << 20);
        CredentialFilter *f = NULL;
        Credentials *c;

        text_put_string(&list, "[");
        for (unsigned i = 0; i < CREDENTIALS_MAX; i++)
                text_format(&list, "%s{\"name\":\"n%u\",\"placeholder\":\"cove-n%02u-0123456789\",\"domain\":\"h.org\",\"value\":\"value-%02u\"}", i ? "," : "", i, i, i);
        text_put(&list, "]", 2);
        c = make(list.data);
        check_result("new", credential_filter_new_mask(c, "h.org", false, &f), 0);
        for (unsigned i = 0; i < 100000; i++)
                text_format(&big, "value-%02u va", i % 100);
        check_result("feed", credential_filter_feed(f, big.data, big.size, true, &out), 0);
        check_true("masked", memmem(out.data, out.size, "value-63", 8) == NULL && memmem(out.data, out.size, "value-64", 8) != NULL);
        check_uint("size", out.size, 100000 * 11 + 64000 * (strlen("cove-n00-0123456789") - strlen("value-00")));
        f = credential_filter_free(f);
        c = credentials_free(c);
        text_done(&list);
        text_done(&big);
        text_done(&out);
}

/* Spellings. */

static void mask_bytes(Credentials *c, const char *host, bool same_length, const char *data, size_t size, size_t portion, Text *out) {
        CredentialFilter *f;

        check_result("new", credential_filter_new_mask(c, host, same_length, &f), 0);
        for (size_t at = 0; at < size; at += portion)
                check_result("feed", credential_filter_feed(f, data + at, MIN_OF(portion, size - at), /* last= */ false, out), 0);
        check_result("end", credential_filter_feed(f, NULL, 0, /* last= */ true, out), 0);
        credential_filter_free(f);
}

static void check_masked(Credentials *c, const char *spelled, size_t size, const char *wanted) {
        char data[1024], hidden[1200];

        for (size_t portion = 1; portion < 50; portion += 7) {
                Text out = TEXT_INIT(4096);

                memcpy(data, "<< ", 3);
                memcpy(data + 3, spelled, size);
                memcpy(data + 3 + size, " >>", 3);
                mask_bytes(c, "api.github.com", false, data, size + 6, portion, &out);
                snprintf(hidden, sizeof(hidden), "<< %s >>", wanted);
                check_true(spelled, out.size == strlen(hidden) && memcmp(out.data, hidden, out.size) == 0);
                text_done(&out);
        }
}

TEST(values_are_masked_however_they_are_spelled) {
        static const char *const spelled[] = {
                "s3cr\"t/va lue+", "s3cr\\\"t\\/va lue+", "s3cr%22t%2fva%20lue%2b", "s3cr%22t%2Fva+lue%2B", "s3cr\\u0022t\\u002Fva lue\\u002b",
                "s3cr&quot;t/va lue+", "s3cr&#34;t&#47;va&#32;lue&#43;", "s3cr&#x22;t&#x2F;va&#x20;lue&#x2b;", "s3cr%2522t%252fva%2520lue%252b",
                "s3cr\\\\\"t\\\\/va lue+", "s3cr=22t/va=20lue+", "s3cr\\x22t\\x2fva\\x20lue\\x2b", "s3cr\\042t\\057va\\040lue\\053",
                "%73%33%63%72%22%74%2f%76%61%20%6c%75%65%2b", "s3cr&amp;quot;t&sol;va lue&plus;",
                "\\u00733cr&#34;t%2Fva+lue\\+", "s3cr\"t/=\r\nva lue+", "s3c=\nr=22t/va lue+", "s3cr&#0000000000000034;t/va lue+",
        };
        Credentials *c = usual();

        for (size_t i = 0; i < ELEMENTSOF(spelled); i++)
                check_masked(c, spelled[i], strlen(spelled[i]), GITHUB);
        check_masked(c, "733363722274\x32" "f7661206c75652b", 28, "****************************");
        check_masked(c, "733363722274\x32" "F7661206C75652B", 28, "****************************");
        check_masked(c, "73 33 63 72 22 74 2f 76 61 20 6c 75 65 2b", 41, "*****************************************");
        check_masked(c, "73:33:63:72:22:74:2F:76\n61:20:6c:75:65:2b", 41, "*****************************************");
        check_masked(c, "s\0003\0c\0r\0\"\0t\0/\0v\0a\0 \0l\0u\0e\0+", 27, GITHUB);
        credentials_free(c);
}

TEST(and_in_any_mixture) {
        Credentials *c = usual();
        unsigned seed = 7;

        for (int round = 0; round < 2000; round++) {
                Text text = TEXT_INIT(4096), out = TEXT_INIT(4096);
                size_t begin;

                text_put_string(&text, (const char *const[]) { "", "%", "&#", "\\u00", "%2", "&amp;", "\\\\", "=" }[round % 8]);
                begin = text.size;
                for (const char *v = VALUE; *v; v++) {
                        char spelling[SPELLING_MAX];

                        do
                                seed = seed * 1103515245 + 12345;
                        while (!spell_letter((uint8_t) *v, (seed >> 16) % SPELLINGS, spelling));
                        text_put_string(&text, spelling);
                }
                mask_bytes(c, "api.github.com", true, text.data, text.size, 1 + (size_t) round % 60, &out);
                check_uint("size", out.size, text.size);
                text_put(&text, "", 1);
                for (size_t i = begin; i < out.size; i++)
                        if (out.data[i] != '*') {
                                check_string("hidden", text.data, "all of it");
                                break;
                        }
                text_done(&text);
                text_done(&out);
        }
        credentials_free(c);
}

TEST(what_is_no_value_comes_as_it_was) {
        static const char text[] = "s3cr\"t/va lue- s3cr%22t%2Fva%20lue% 100% &amp; \\u0073\\u0033 =3 \\ & &# &#x %25 %2 s3cr\\";
        Credentials *c = usual();

        for (size_t portion = 1; portion < sizeof(text); portion++) {
                Text out = TEXT_INIT(4096);

                mask_bytes(c, "api.github.com", false, text, strlen(text), portion, &out);
                check_true("the same", out.size == strlen(text) && memcmp(out.data, text, out.size) == 0);
                text_done(&out);
        }
        credentials_free(c);
}

/* What a value of so many letters costs in a stream of the same letter: every byte may begin one, and what came before it may be one. */
static double worst(size_t letters) {
        char *list = calloc(1, letters + 200), *stream = malloc(1 << 14);
        Text out = TEXT_INIT(1 << 17);
        Credentials *c;
        clock_t begun;

        snprintf(list, 200, "[{\"name\":\"n\",\"placeholder\":\"" GITHUB "\",\"domain\":\"api.github.com\",\"value\":\"");
        memset(list + strlen(list), 'a', letters);
        strcat(list, "b\"}]");
        c = make(list);
        memset(stream, 'a', 1 << 14);
        begun = clock();
        mask_bytes(c, "api.github.com", true, stream, 1 << 14, 1 << 12, &out);
        begun = clock() - begun;
        text_done(&out);
        credentials_free(c);
        free(list);
        free(stream);
        return (double) begun;
}

/* 32 credentials of so many letters 0, and an answer that repeats a few bytes. */
static double cost_of_stream(int letters, const char *repeated, size_t size) {
        Text list = TEXT_INIT(1 << 16), stream = TEXT_INIT(1 << 15), out = TEXT_INIT(1 << 20);
        Credentials *c;
        clock_t begun;

        for (int i = 0; i < 32; i++)
                text_format(&list, "%s{\"name\":\"n%d\",\"placeholder\":\"cove-n%02d-0123456789\",\"domain\":\"api.github.com\",\"value\":\"%0*d\"}",
                                i ? "," : "[", i, i, letters, 0);
        text_put(&list, "]", 2);
        c = make(list.data);
        while (stream.size < 16384)
                text_put(&stream, repeated, size);
        begun = clock();
        mask_bytes(c, "api.github.com", true, stream.data, stream.size, 1 << 12, &out);
        begun = clock() - begun;
        credentials_free(c);
        text_done(&list);
        text_done(&stream);
        text_done(&out);
        return (double) begun;
}

TEST(no_stream_makes_it_slow) {
        static const struct {
                const char *bytes;
                size_t size;
        } hostile[] = {
                { "0\0\0\0", 4 }, { "0\0\0\0\0\0\0\0", 8 }, { "0\0", 2 }, { "0=\r\n", 4 }, { "\\\\\\\\u0030", 9 }, { "&#00000000048;", 14 }, { "%252530", 7 },
                { "30 ", 3 }, { "MDAw%0A", 7 }, { "MDAw\\n\r\n", 8 },
        };
        double usual = cost_of_stream(4, "0", 1);

        for (size_t i = 0; i < ELEMENTSOF(hostile); i++) {
                check_true(hostile[i].bytes, cost_of_stream(4, hostile[i].bytes, hostile[i].size) < 60 * usual + CLOCKS_PER_SEC / 100);
                check_true(hostile[i].bytes, cost_of_stream(8, hostile[i].bytes, hostile[i].size) < 60 * usual + CLOCKS_PER_SEC / 100);
        }
}

TEST(values_have_a_limit_together) {
        json_t *j = json_array();
        Credentials *c = NULL;
        Error error = { 0 };
        char value[1024];

        memset(value, 'v', sizeof(value));
        for (unsigned i = 0; i < 17; i++)
                json_array_append_new(j, json_pack("{s:s, s:s, s:s, s:s#}", "name", "n", "placeholder", GITHUB, "domain", "h.org", "value", value, 1024));
        check_result("seventeen times 1024", credentials_parse(j, &c, &error), -E2BIG);
        check_true("which one, how many, how many may be", strstr(error.text, "credentials[16]") && strstr(error.text, "17408") && strstr(error.text, "16384"));
        json_decref(j);
}

TEST(values_take_little_memory) {
        json_t *none = json_array(), *j = json_array();
        Credentials *c = NULL, *one = NULL;
        Error error = { 0 };
        char value[1024];

        for (size_t i = 0; i < sizeof(value); i++)
                value[i] = (char) ('!' + i * 7 % 90);
        json_array_append_new(none, json_pack("{s:s, s:s, s:s, s:s}", "name", "n", "placeholder", GITHUB, "domain", "h.org", "value", "abcd"));
        for (unsigned i = 0; i < 15; i++)
                json_array_append_new(j, json_pack("{s:s, s:s, s:s, s:s#}", "name", "n", "placeholder", GITHUB, "domain", "h.org", "value", value, 1024));
        check_result("one", credentials_parse(none, &one, &error), 0);
        check_result("fifteen times 1024", credentials_parse(j, &c, &error), 0);
        check_true("48 bytes for each of them at most", credentials_size(c) - credentials_size(one) < 15 * 1024 * 48);
        (void) credentials_free(c);
        (void) credentials_free(one);
        json_decref(none);
        json_decref(j);
}

TEST(no_value_makes_it_slow) {
        double one = worst(60), many = worst(16000);

        check_true("by its pieces, not by its letters", many < 1000 * one);
}
