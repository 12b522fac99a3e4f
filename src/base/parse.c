#include "base/parse.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

typedef struct Unit {
        const char *name;
        uint64_t factor;
} Unit;

static bool parse_is_digit(char c) {
        return c >= '0' && c <= '9';
}

/* Keeps whole part and fraction apart, since "12.5" as a count of billionths would overflow early. The fraction is in
 * units of 10^-9, further digits are dropped. */
static int read_decimal(const char **p, uint64_t *ret_whole, uint64_t *ret_nano) {
        const char *s = *p;
        uint64_t whole = 0, nano = 0, weight = 100000000;

        if (!parse_is_digit(*s))
                return -EINVAL;
        for (; parse_is_digit(*s); s++)
                if (__builtin_mul_overflow(whole, 10, &whole) ||
                    __builtin_add_overflow(whole, (uint64_t) (*s - '0'), &whole))
                        return -ERANGE;
        if (*s == '.') {
                s++;
                if (!parse_is_digit(*s))
                        return -EINVAL;
                for (; parse_is_digit(*s); s++) {
                        nano += weight * (uint64_t) (*s - '0');
                        weight /= 10;
                }
        }

        *p = s;
        *ret_whole = whole;
        *ret_nano = nano;
        return 0;
}

static int scale(uint64_t whole, uint64_t nano, uint64_t factor, uint64_t *ret) {
        unsigned __int128 wide = (unsigned __int128) whole * factor + (unsigned __int128) nano * factor / 1000000000u;

        if (wide > UINT64_MAX)
                return -ERANGE;
        *ret = (uint64_t) wide;
        return 0;
}

int parse_uint64(const char *text, uint64_t min, uint64_t max, uint64_t *ret) {
        uint64_t value = 0;

        if (!parse_is_digit(*text))
                return -EINVAL;
        for (; parse_is_digit(*text); text++)
                if (__builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, (uint64_t) (*text - '0'), &value))
                        return -ERANGE;
        if (*text)
                return -EINVAL;
        if (value < min || value > max)
                return -ERANGE;
        *ret = value;
        return 0;
}

int parse_size(const char *text, uint64_t *ret) {
        static const Unit units[] = {
                { "",   1            },
                { "B",  1            },
                { "K",  1024         },
                { "KB", 1024         },
                { "KiB", 1024        },
                { "M",  1024 * 1024  },
                { "MB", 1024 * 1024  },
                { "MiB", 1024 * 1024 },
                { "G",  1ull << 30   },
                { "GB", 1ull << 30   },
                { "GiB", 1ull << 30  },
                { "T",  1ull << 40   },
                { "TB", 1ull << 40   },
                { "TiB", 1ull << 40  },
        };
        uint64_t whole, nano, value;
        int r;

        r = read_decimal(&text, &whole, &nano);
        if (r < 0)
                return r;
        for (size_t i = 0; i < ELEMENTSOF(units); i++)
                if (strcasecmp(text, units[i].name) == 0) {
                        if (units[i].factor == 1 && nano != 0)
                                return -EINVAL;
                        r = scale(whole, nano, units[i].factor, &value);
                        if (r < 0)
                                return r;
                        *ret = value;
                        return 0;
                }
        return -EINVAL;
}

static const Unit *duration_unit(const char **p) {
        /* Longer names first: "ms" is not "m" followed by rubbish. */
        static const Unit units[] = {
                { "us", 1                         },
                { "ms", USEC_PER_MSEC             },
                { "s",  USEC_PER_SEC              },
                { "m",  60 * USEC_PER_SEC         },
                { "h",  3600 * USEC_PER_SEC       },
                { "d",  24 * 3600 * USEC_PER_SEC  },
        };

        for (size_t i = 0; i < ELEMENTSOF(units); i++) {
                size_t n = strlen(units[i].name);
                if (strncmp(*p, units[i].name, n) == 0) {
                        *p += n;
                        return units + i;
                }
        }
        return NULL;
}

int parse_duration(const char *text, usec_t *ret) {
        usec_t total = 0;
        bool first = true;

        do {
                uint64_t whole, nano, part;
                const Unit *unit;
                int r;

                r = read_decimal(&text, &whole, &nano);
                if (r < 0)
                        return r;
                if (first && !*text) {
                        r = scale(whole, nano, USEC_PER_SEC, &part);
                } else {
                        unit = duration_unit(&text);
                        if (!unit)
                                return -EINVAL;
                        r = scale(whole, nano, unit->factor, &part);
                }
                if (r < 0)
                        return r;
                if (__builtin_add_overflow(total, part, &total))
                        return -ERANGE;
                first = false;
        } while (*text);

        if (total == USEC_INFINITY)
                return -ERANGE;
        *ret = total;
        return 0;
}

int parse_cpus(const char *text, uint32_t *ret_milli) {
        uint64_t whole, nano, milli;
        int r;

        r = read_decimal(&text, &whole, &nano);
        if (r < 0)
                return r;
        if (*text)
                return -EINVAL;
        r = scale(whole, nano, 1000, &milli);
        if (r < 0)
                return r;
        if (milli < 10 || milli > 4096 * 1000u)
                return -ERANGE;
        *ret_milli = (uint32_t) milli;
        return 0;
}
