#include "unit.h"

#include <errno.h>
#include <string.h>

#include "api/router.h"

static const ApiRoute sandboxes[] = {
        { "POST", "/api/sandbox" },
        { "GET", "/api/sandbox/list" },
        { "GET", "/api/sandbox/{id}" },
        { "DELETE", "/api/sandbox/{id}" },
        { "GET", "/api/sandbox/{id}/exec/{eid}" },
        { "POST", "/api/sandbox/{id}/exec/{eid}/stdin" },
        { "POST", "/api/sandbox/{id}/exec/{eid}/stdin/close" },
        { "GET", "/api/sandbox/{id}/files" },
        { "HEAD", "/api/sandbox/{id}/files" },
        { 0 },
};

static const ApiRoute others[] = {
        { "GET", "/healthz" },
        { "GET", "/{anything}" },
        { 0 },
};

static const ApiRoute *const tables[] = { sandboxes, others, NULL };

static const char *found(const char *method, const char *path) {
        static char text[512];
        RouterMatch m;
        int r = router_find(tables, method, path, &m);

        if (r < 0)
                (void) snprintf(text, sizeof(text), "%s%s%s", strerrorname_np(-r), r == -EPERM ? " " : "", r == -EPERM ? m.allow : "");
        else
                (void) snprintf(text, sizeof(text), "%s %s%s%s%s%s", m.route->method, m.route->path, m.parameters[0] ? " " : "",
                                m.parameters[0] ? m.parameters[0] : "", m.parameters[1] ? " " : "", m.parameters[1] ? m.parameters[1] : "");
        router_match_done(&m);
        return text;
}

TEST(paths) {
        static const struct {
                const char *method, *path, *found;
        } rows[] = {
                { "GET",    "/healthz",                             "GET /healthz"                                     },
                { "POST",   "/api/sandbox",                         "POST /api/sandbox"                                },
                { "GET",    "/api/sandbox/list",                    "GET /api/sandbox/list"                            },
                { "GET",    "/api/sandbox/lisp",                    "GET /api/sandbox/{id} lisp"                       },
                { "DELETE", "/api/sandbox/x1",                      "DELETE /api/sandbox/{id} x1"                      },
                { "GET",    "/api/sandbox/a/exec/e1",               "GET /api/sandbox/{id}/exec/{eid} a e1"            },
                { "POST",   "/api/sandbox/a/exec/e1/stdin",         "POST /api/sandbox/{id}/exec/{eid}/stdin a e1"     },
                { "POST",   "/api/sandbox/a/exec/e1/stdin/close",   "POST /api/sandbox/{id}/exec/{eid}/stdin/close a e1" },
                { "HEAD",   "/api/sandbox/a/files",                 "HEAD /api/sandbox/{id}/files a"                   },
                { "GET",    "/x",                                   "GET /{anything} x"                                },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                check_string(rows[i].path, found(rows[i].method, rows[i].path), rows[i].found);
}

TEST(absent) {
        static const char *const paths[] = { "", "/", "//", "*", "api/sandbox", "/api/sandbox/", "/api/sandbox/list/", "/api//sandbox", "/api/sandbox/a/exec/",
                "/api/sandbox//exec/e1", "/api/sandbox/a/exec/e1/stdin/close/x", "//healthz", "/a/b", "http://host/healthz" };

        for (size_t i = 0; i < ELEMENTSOF(paths); i++)
                check_string(paths[i], found("GET", paths[i]), "ENOENT");
}

TEST(methods) {
        check_string("other path", found("PUT", "/api/sandbox"), "EPERM POST");
        check_string("several", found("PATCH", "/api/sandbox/x"), "EPERM GET, DELETE");
        check_string("the written-out one has no DELETE", found("DELETE", "/api/sandbox/list"), "EPERM GET");
        check_string("HEAD where there is none", found("HEAD", "/healthz"), "EPERM GET");
        check_string("unknown", found("BREW", "/api/sandbox"), "EOPNOTSUPP");
        check_string("unknown, no path", found("BREW", "/a/b"), "EOPNOTSUPP");
        check_string("small letters", found("get", "/healthz"), "EOPNOTSUPP");
        check_string("empty", found("", "/healthz"), "EOPNOTSUPP");
}

TEST(decoding) {
        static const struct {
                const char *path, *found;
        } rows[] = {
                { "/a%20b",       "GET /{anything} a b"      },
                { "/a+b",         "GET /{anything} a+b"      },
                { "/%41%7a",      "GET /{anything} Az"       },
                { "/%7A",         "GET /{anything} z"        },
                { "/a%2Fb",       "GET /{anything} a/b"      },
                { "/%2e%2e",      "GET /{anything} .."       },
                { "/%25",         "GET /{anything} %"        },
                { "/%c3%bc",      "GET /{anything} \xc3\xbc" },
                { "/\xc3\xbc",    "GET /{anything} \xc3\xbc" },
                { "/%",           "EILSEQ"                   },
                { "/%4",          "EILSEQ"                   },
                { "/%zz",         "EILSEQ"                   },
                { "/%4g",         "EILSEQ"                   },
                { "/a%00b",       "EILSEQ"                   },
                { "/%ff",         "EILSEQ"                   },
                { "/%c3",         "EILSEQ"                   },
                { "/\xff",        "EILSEQ"                   },
                { "/%ed%a0%80",   "EILSEQ"                   },
                { "/healthz%",    "EILSEQ"                   },
                { "/%68ealthz",   "GET /{anything} healthz"  },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                check_string(rows[i].path, found("GET", rows[i].path), rows[i].found);
}

TEST(a_bad_second_parameter_frees_the_first) {
        check_string("second", found("GET", "/api/sandbox/good/exec/%ff"), "EILSEQ");
}

TEST(places) {
        check_int("first", router_parameter_place(sandboxes + 4, "id"), 0);
        check_int("second", router_parameter_place(sandboxes + 4, "eid"), 1);
        check_result("none", router_parameter_place(sandboxes + 4, "xid"), -ENOENT);
        check_result("part of a name", router_parameter_place(sandboxes + 4, "i"), -ENOENT);
        check_result("no parameters", router_parameter_place(sandboxes, "id"), -ENOENT);
}
