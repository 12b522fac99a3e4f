/* page.c: errors of previews: a page for a browser, JSON for others. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/accept.h"
#include "api/preview/preview.h"

bool preview_wants_page(const ApiRequest *q) {
        static const char *const types[] = { "application/json", "text/html" };
        const char *accept = http_header(q->http, "Accept");

        return accept && strstr(accept, "text/html") && accept_choose(accept, types, ELEMENTSOF(types)) == 1;
}

static void page_put_escaped(Text *t, const char *s) {
        for (; s && *s; s++)
                switch (*s) {
                case '<':
                        text_put_string(t, "&lt;");
                        break;
                case '&':
                        text_put_string(t, "&amp;");
                        break;
                case '"':
                        text_put_string(t, "&quot;");
                        break;
                default:
                        text_put(t, s, 1);
                }
}

int preview_page(ApiRequest *q, unsigned status, const char *message, const char *hint) {
        _cleanup_text_ Text t = TEXT_INIT(8192);

        text_put_string(&t, "<!doctype html><meta charset=utf-8><meta name=viewport content=\"width=device-width\"><title>cove: ");
        page_put_escaped(&t, message);
        text_put_string(&t, "</title><body style=\"font:16px/1.5 system-ui;margin:15vh auto;max-width:36em;padding:0 1em\"><h1 style=\"font-size:1.2em\">");
        page_put_escaped(&t, message);
        text_put_string(&t, "</h1><p>");
        page_put_escaped(&t, hint);
        text_put_string(&t, "\n");
        q->answered = true;
        if (t.error < 0)
                return http_answer(q->http, 500, "text/plain", "", 0);
        return http_answer(q->http, status, "text/html; charset=utf-8", t.data, t.size);
}

int preview_refuse(ApiRequest *q, unsigned status, const char *code, const char *hint, const char *format, ...) {
        char message[512];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(message, sizeof(message), format, ap);
        va_end(ap);
        (void) http_add_header(q->http, "Cache-Control", "no-store");
        return preview_wants_page(q) ? preview_page(q, status, message, hint) : api_error(q, status, code, hint, "%s", message);
}
