/* Forms with files in them: what comes out does not depend on how they are cut, and what is no form is refused. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/envd/files-type.h"
#include "api/e2b/envd/multipart.h"
#include "api/range.h"

#define TYPE "multipart/form-data; boundary=XX"

static char heard[8192];

static void hear(const char *format, ...) _printf_(1, 2);
static void hear(const char *format, ...) {
        size_t n = strlen(heard);
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(heard + n, sizeof(heard) - n, format, ap);
        va_end(ap);
}

/* In portions of so many bytes; of data at most `take` at once. */
static const char *feed(const char *type, const char *text, size_t size, size_t portion, size_t take) {
        static Multipart m;
        size_t at = 0;
        bool in_data = false;

        heard[0] = '\0';
        if (multipart_init(&m, type) < 0)
                return "no boundary";
        while (at < size) {
                size_t n = MIN_OF(portion, size - at), used = 0;
                int r = MULTIPART_MORE;

                do {
                        MultipartPiece piece;
                        size_t step, taken;

                        r = multipart_next(&m, text + at + used, n - used, &step, &piece);
                        used += step;
                        if (r < 0)
                                return r == -EBADMSG ? "bad" : r == -E2BIG ? "too long" : "?";
                        if (r == MULTIPART_PART)
                                hear("<%s|%s", m.name, m.has_filename ? m.filename : "-");
                        if (r == MULTIPART_DATA) {
                                taken = MIN_OF(take, piece.size);
                                hear("%s%.*s", in_data ? "" : ":", (int) taken, piece.data);
                                used += multipart_took(&m, taken);
                        }
                        in_data = r == MULTIPART_DATA || (in_data && r == MULTIPART_MORE);
                        if (r == MULTIPART_PART_END)
                                hear(">");
                        if (r == MULTIPART_END)
                                used = n;
                } while (r != MULTIPART_MORE && r != MULTIPART_END);
                at += used;
                if (r == MULTIPART_END && at == size)
                        hear("$");
        }
        return heard;
}

#define PART(head) "--XX\r\nContent-Disposition: form-data; " head "\r\n\r\n"

TEST(forms) {
        static const struct {
                const char *text, *heard;
        } rows[] = {
                { PART("name=\"file\"; filename=\"a.txt\"") "hello\r\n--XX--\r\n",                    "<file|a.txt:hello>$"          },
                { PART("name=\"file\"") "\r\n--XX--",                                                 "<file|->$"                    },
                { PART("name=\"file\"") "--XX--",                                                     "<file|->$"                    },
                { PART("name=file; filename=dir/x") "a\r\nb\r\n--XX--",                               "<file|dir/x:a\r\nb>$"         },
                { "before\r\n" PART("name=\"a\"") "1\r\n" PART("name=\"b\"") "2\r\n--XX--after",      "<a|-:1><b|-:2>$"              },
                { PART("name=\"f\"; filename=\"c %22q%22%0d%0A.txt\"") "x\r\n--XX--",                 "<f|c \"q\"\r\n.txt:x>$"       },
                { PART("name=\"f\"; filename=\"a\\\"b\\\\c;d\"") "x\r\n--XX--",                       "<f|a\"b\\c;d:x>$"             },
                { PART("name=\"f\"; filename=\"C:\\dir\\x\"") "x\r\n--XX--",                          "<f|C:\\dir\\x:x>$"            },
                { PART("name=\"f\"; filename*=utf-8''x") "x\r\n--XX--",                               "<f|-:x>$"                     },
                { PART("filename=\"n\"; name=\"f\"") "\r\n--X\r\n--XY\r\r\n--XX--",                   "<f|n:\r\n--X\r\n--XY\r>$"     },
                { PART("name=\"f\"") "--XY--\r\n--XX  \r\nX: y\r\n\r\nz\r\n--XX--",                   "<f|-:--XY--><|-:z>$"          },
                { "--XX\r\ncontent-disposition: form-data; NAME=\"f\"\r\nA: b\r\n\r\nx\r\n--XX--",    "<f|-:x>$"                     },
                { "--XX--",                                                                           "$"                            },
                { "",                                                                                 ""                             },
                { PART("name=\"f\"") "never ends",                                                    "<f|-:never ends"              },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                for (size_t portion = 1; portion < 40; portion++)
                        for (size_t take = 1; take < 4; take++)
                                check_string(rows[i].text, feed(TYPE, rows[i].text, strlen(rows[i].text), portion, take * take * take), rows[i].heard);
}

TEST(what_is_none) {
        static const char *const rows[] = {
                "--XXy\r\n",
                "--XX\rx",
                "--XX-x",
                "--XX\r\nno colon\r\n\r\n",
                "--XX\r\nA: b\n\r\n",
                "--XX\r\nContent-Disposition: form-data; name=\"open\r\n\r\n",
        };
        static char longer[2 * MULTIPART_LINE_MAX];
        size_t n;

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                check_string(rows[i], feed(TYPE, rows[i], strlen(rows[i]), 7, 7), "bad");
        check_string("a NUL", feed(TYPE, "--XX\r\nA: \0\r\n\r\n", 14, 7, 7), "bad");
        n = (size_t) snprintf(longer, sizeof(longer), "--XX\r\nA: %0*d", MULTIPART_LINE_MAX, 0);
        check_string("a line", feed(TYPE, longer, n, 100, 100), "too long");
        n = (size_t) snprintf(longer, sizeof(longer), "--XX\r\nContent-Disposition: form-data; filename=\"%0*d\"\r\n", MULTIPART_NAME_MAX, 0);
        check_string("a name", feed(TYPE, longer, n, 100, 100), "too long");
}

TEST(boundaries) {
        static const char text[] = "--a b\r\n\r\nx\r\n--a b--";

        check_string("quoted", feed("multipart/form-data; boundary=\"a b\"", text, strlen(text), 3, 1), "<|-:x>$");
        check_string("other parameters", feed("multipart/form-data; charset=x; Boundary = \"a b\"; y=z", text, strlen(text), 3, 1), "<|-:x>$");
        check_string("none", feed("multipart/form-data", text, strlen(text), 3, 1), "no boundary");
        check_string("empty", feed("multipart/form-data; boundary=", text, strlen(text), 3, 1), "no boundary");
        check_string("other name", feed("multipart/form-data; xboundary=a", text, strlen(text), 3, 1), "no boundary");
}

TEST(names_in_headers) {
        static const struct {
                const char *name, *text;
        } rows[] = {
                { "a.txt",       "inline; filename=a.txt"                     },
                { "a b.txt",     "inline; filename=\"a b.txt\""               },
                { "a\"\\b",      "inline; filename=\"a\\\"\\\\b\""            },
                { "\xc3\xa4 %",  "inline; filename*=utf-8''%C3%A4%20%25"      },
                { "a\r\nX: y",   "inline; filename*=utf-8''a%0D%0AX%3A%20y"   },
                { "",            "inline; filename=\"\""                      },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                _cleanup_free_ char *text = files_disposition(rows[i].name);

                check_string(rows[i].name, text, rows[i].text);
        }
        check_string("type", files_type("/a.b/c.PNG"), "image/png");
        check_string("type", files_type("/a.png/c"), "application/octet-stream");
}

TEST(encodings) {
        static const char *const fine[] = { NULL, "", "gzip", "gzip, deflate", "identity", "*;q=0.5", "*;q=0, identity;q=0.1", "identity;q=0.5", "gzip;q=0" };
        static const char *const refused[] = { "identity;q=0", "gzip, identity;q=0.0", "*;q=0", "gzip;q=1, *;q=0.000" };

        for (size_t i = 0; i < ELEMENTSOF(fine); i++)
                check_true(fine[i] ? fine[i] : "NULL", files_identity_is_fine(fine[i]));
        for (size_t i = 0; i < ELEMENTSOF(refused); i++)
                check_true(refused[i], !files_identity_is_fine(refused[i]));
}
