#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"

#define OUTWAIT_USEC 1000

int error_set(Error *reterr, int code, const char *format, ...) {
        va_list ap;

        if (!reterr)
                return code;

        reterr->code = code;
        errno = code < 0 ? -code : code; /* for %m */
        va_start(ap, format);
        (void) vsnprintf(reterr->text, sizeof(reterr->text), format, ap);
        va_end(ap);
        return code;
}

bool error_is_shortage(int code) {
        static const int shortages[] = { EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOSPC, EDQUOT, EAGAIN, EINTR, ETOOMANYREFS, EUSERS };

        for (size_t i = 0; i < ELEMENTSOF(shortages); i++)
                if (code == shortages[i] || code == -shortages[i])
                        return true;
        return false;
}

void error_outwait(int code) {
        if (!error_is_shortage(code))
                abort();
        (void) usleep(OUTWAIT_USEC);
}

int error_prefix(Error *reterr, int code, const char *format, ...) {
        char old[ERROR_TEXT_MAX];
        va_list ap;
        size_t n;

        if (!reterr)
                return code;

        memcpy(old, reterr->text, sizeof(old));
        va_start(ap, format);
        (void) vsnprintf(reterr->text, sizeof(reterr->text), format, ap);
        va_end(ap);

        n = strlen(reterr->text);
        (void) snprintf(reterr->text + n, sizeof(reterr->text) - n, ": %s", old);
        reterr->code = code;
        return code;
}

int error_suffix(Error *reterr, int code, const char *format, ...) {
        size_t n;
        va_list ap;

        if (!reterr)
                return code;
        n = strlen(reterr->text);
        va_start(ap, format);
        (void) vsnprintf(reterr->text + n, sizeof(reterr->text) - n, format, ap);
        va_end(ap);
        reterr->code = code;
        return code;
}

void error_hide(Error *e, const char *prefix) {
        static const char dots[] = "…";
        size_t n = strlen(prefix);

        for (char *p = e->text; n >= sizeof(dots) - 1 && (p = strstr(p, prefix)); p += sizeof(dots) - 1) {
                size_t length = n + strcspn(p + n, " '\",;:");

                memmove(p + sizeof(dots) - 1, p + length, strlen(p + length) + 1);
                memcpy(p, dots, sizeof(dots) - 1);
        }
}
