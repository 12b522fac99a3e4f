/* connect-time.c: formats and parses times. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/e2b/connect/connect-json.h"

#define SECONDS_FIRST INT64_C(-62135596800) /* the year 1 */
#define SECONDS_LAST  INT64_C(253402300799) /* the end of 9999 */
#define NANOS_LAST    999999999

int connect_time_print(int64_t seconds, int32_t nanos, char ret[static CONNECT_TIME_MAX]) {
        time_t t = (time_t) seconds;
        struct tm tm;
        int n;

        if (seconds < SECONDS_FIRST || seconds > SECONDS_LAST || nanos < 0 || nanos > NANOS_LAST || !gmtime_r(&t, &tm))
                return -ERANGE;
        n = snprintf(ret, CONNECT_TIME_MAX, "%04d-%02d-%02dT%02d:%02d:%02d", (int) ((unsigned) (tm.tm_year + 1900) % 10000),
                        tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
        if (n < 0 || n >= CONNECT_TIME_MAX)
                return -ERANGE;
        if (nanos % 1000000 == 0 && nanos > 0)
                (void) snprintf(ret + n, CONNECT_TIME_MAX - (size_t) n, ".%03dZ", nanos / 1000000);
        else if (nanos % 1000 == 0 && nanos > 0)
                (void) snprintf(ret + n, CONNECT_TIME_MAX - (size_t) n, ".%06dZ", nanos / 1000);
        else if (nanos > 0)
                (void) snprintf(ret + n, CONNECT_TIME_MAX - (size_t) n, ".%09dZ", nanos);
        else
                (void) snprintf(ret + n, CONNECT_TIME_MAX - (size_t) n, "Z");
        return 0;
}

/* Reads exactly `digits` digits. Negative: there are fewer. */
static int connect_time_number(const char **p, unsigned digits) {
        int value = 0;

        for (unsigned i = 0; i < digits; i++, (*p)++) {
                if (**p < '0' || **p > '9')
                        return -EBADMSG;
                value = value * 10 + (**p - '0');
        }
        return value;
}

static bool connect_time_skip(const char **p, char c) {
        if (**p != c)
                return false;
        (*p)++;
        return true;
}

static int parse_date(const char **p, struct tm *tm) {
        int year = connect_time_number(p, 4), month, day;

        if (year < 1 || !connect_time_skip(p, '-'))
                return -EBADMSG;
        month = connect_time_number(p, 2);
        if (month < 1 || month > 12 || !connect_time_skip(p, '-'))
                return -EBADMSG;
        day = connect_time_number(p, 2);
        if (day < 1 || day > 31 || (!connect_time_skip(p, 'T') && !connect_time_skip(p, 't')))
                return -EBADMSG;
        *tm = (struct tm) { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day };
        return 0;
}

static int parse_clock(const char **p, struct tm *tm) {
        tm->tm_hour = connect_time_number(p, 2);
        if (tm->tm_hour < 0 || tm->tm_hour > 23 || !connect_time_skip(p, ':'))
                return -EBADMSG;
        tm->tm_min = connect_time_number(p, 2);
        if (tm->tm_min < 0 || tm->tm_min > 59 || !connect_time_skip(p, ':'))
                return -EBADMSG;
        tm->tm_sec = connect_time_number(p, 2);
        return tm->tm_sec < 0 || tm->tm_sec > 59 ? -EBADMSG : 0;
}

static int parse_fraction(const char **p, int32_t *ret) {
        int32_t nanos = 0;
        unsigned n = 0;

        if (connect_time_skip(p, '.')) {
                for (; **p >= '0' && **p <= '9'; (*p)++, n++)
                        if (n < 9)
                                nanos = nanos * 10 + (**p - '0');
                if (n == 0 || n > 9)
                        return -EBADMSG;
                for (; n < 9; n++)
                        nanos *= 10;
        }
        *ret = nanos;
        return 0;
}

static int parse_zone(const char **p, int *ret_seconds) {
        bool west = **p == '-';
        int hours, minutes;

        *ret_seconds = 0;
        if (connect_time_skip(p, 'Z') || connect_time_skip(p, 'z'))
                return 0;
        if (!connect_time_skip(p, '+') && !connect_time_skip(p, '-'))
                return -EBADMSG;
        hours = connect_time_number(p, 2);
        if (hours < 0 || hours > 23 || !connect_time_skip(p, ':'))
                return -EBADMSG;
        minutes = connect_time_number(p, 2);
        if (minutes < 0 || minutes > 59)
                return -EBADMSG;
        *ret_seconds = (hours * 60 + minutes) * (west ? -60 : 60);
        return 0;
}

int connect_time_parse(const char *text, int64_t *ret_seconds, int32_t *ret_nanos) {
        int64_t seconds;
        struct tm tm;
        int32_t nanos;
        int zone, day;

        if (parse_date(&text, &tm) < 0 || parse_clock(&text, &tm) < 0 || parse_fraction(&text, &nanos) < 0 ||
                        parse_zone(&text, &zone) < 0 || *text)
                return -EBADMSG;
        day = tm.tm_mday;
        seconds = (int64_t) timegm(&tm) - zone;
        if (tm.tm_mday != day || seconds < SECONDS_FIRST || seconds > SECONDS_LAST)
                return -EBADMSG; /* such as 30 February, or a year out of range */
        *ret_seconds = seconds;
        *ret_nanos = nanos;
        return 0;
}
