/* Sizes, times, shares and numbers as people write them. */
#include "unit.h"

#include <errno.h>

#include "base/parse.h"

#define K UINT64_C(1024)
#define M (1024 * K)
#define G (1024 * M)
#define T (1024 * G)

#define UNTOUCHED UINT64_C(0xfeedfacecafebeef)

typedef struct Row {
        const char *text;
        int result;
        uint64_t value;
} Row;

/* On failure the output must be as it was. */
static void check_rows(int (*parse)(const char *text, uint64_t *ret), const Row *rows, size_t n) {
        for (size_t i = 0; i < n; i++) {
                uint64_t value = UNTOUCHED;

                check_result(rows[i].text, parse(rows[i].text, &value), rows[i].result);
                check_uint(rows[i].text, value, rows[i].result < 0 ? UNTOUCHED : rows[i].value);
        }
}

TEST(size_units) {
        static const Row rows[] = {
                { "0",    0, 0       },
                { "1",    0, 1       },
                { "4096", 0, 4096    },
                { "1B",   0, 1       },
                { "1b",   0, 1       },
                { "3K",   0, 3 * K   },
                { "3k",   0, 3 * K   },
                { "3KB",  0, 3 * K   },
                { "3kb",  0, 3 * K   },
                { "3KiB", 0, 3 * K   },
                { "3kib", 0, 3 * K   },
                { "512M", 0, 512 * M },
                { "5m",   0, 5 * M   },
                { "5MB",  0, 5 * M   },
                { "5MiB", 0, 5 * M   },
                { "7G",   0, 7 * G   },
                { "7g",   0, 7 * G   },
                { "7GB",  0, 7 * G   },
                { "7GiB", 0, 7 * G   },
                { "2T",   0, 2 * T   },
                { "2t",   0, 2 * T   },
                { "2TB",  0, 2 * T   },
                { "2TiB", 0, 2 * T   },
                { "007K", 0, 7 * K   },
        };
        check_rows(parse_size, rows, ELEMENTSOF(rows));
}

TEST(size_fractions) {
        static const Row rows[] = {
                { "1.5G",                             0,       G + G / 2 },
                { "0.5K",                             0,       512       },
                { "0.25M",                            0,       M / 4     },
                { "1.0",                              0,       1         },
                { "2.000B",                           0,       2         },
                { "0.001K",                           0,       1         }, /* 1.024, rounded down */
                { "0.0001K",                          0,       0         },
                { "0.999999999K",                     0,       1023      },
                { "1.99999999999999K",                0,       2047      }, /* digits beyond the ninth are dropped */
                { "0.00000000000000000000000000001T", 0,       0         },
                { "1.5",                              -EINVAL, 0         }, /* half a byte */
                { "0.5B",                             -EINVAL, 0         },
                { "1.",                               -EINVAL, 0         },
                { "1.K",                              -EINVAL, 0         },
                { ".5K",                              -EINVAL, 0         },
                { "1..5K",                            -EINVAL, 0         },
                { "1.5.5K",                           -EINVAL, 0         },
                { "1,5G",                             -EINVAL, 0         },
        };
        check_rows(parse_size, rows, ELEMENTSOF(rows));
}

TEST(size_range) {
        static const Row rows[] = {
                { "18446744073709551615",        0,       UINT64_MAX                     },
                { "18446744073709551615B",       0,       UINT64_MAX                     },
                { "16777215T",                   0,       UINT64_MAX - T + 1             },
                { "16777215.999T",               0,       UINT64_C(18446744072610039988) },
                { "18446744073709551616",        -ERANGE, 0                              },
                { "16777216T",                   -ERANGE, 0                              },
                { "18446744073709551615K",       -ERANGE, 0                              },
                { "99999999999999999999999999",  -ERANGE, 0                              },
                { "99999999999999999999999999T", -ERANGE, 0                              },
        };
        check_rows(parse_size, rows, ELEMENTSOF(rows));
}

TEST(size_garbage) {
        static const char *const texts[] = { "", " ", "K", "-1", "+1", "-1K", " 1", "1 ", "1 K", "1K ",
                "1\n", "1\tK", "0x10", "1e3", "1KK", "1KiBs", "1Ki", "1iB", "1P", "1E", "1Kb/s", "inf",
                "nan", "many", "1K1K", "\xef\xbc\x91", "1\xc2\xa0K", "1_000", "1'000", "--", ".", "\x01" };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                check_rows(parse_size, &(Row) { texts[i], -EINVAL, 0 }, 1);
}

TEST(duration_units) {
        static const Row rows[] = {
                { "0",              0, 0                                    },
                { "90",             0, 90 * USEC_PER_SEC                    }, /* no unit: seconds */
                { "0.5",            0, USEC_PER_SEC / 2                     },
                { "1us",            0, 1                                    },
                { "250ms",          0, 250 * USEC_PER_MSEC                  },
                { "30s",            0, 30 * USEC_PER_SEC                    },
                { "5m",             0, 5 * 60 * USEC_PER_SEC                },
                { "2h",             0, 2 * 3600 * USEC_PER_SEC              },
                { "3d",             0, 3 * 24 * 3600 * USEC_PER_SEC         },
                { "1.5m",           0, 90 * USEC_PER_SEC                    },
                { "0.1ms",          0, 100                                  },
                { "0.9us",          0, 0                                    },
                { "1m30s",          0, 90 * USEC_PER_SEC                    },
                { "1d1h1m1s1ms1us", 0, 90061 * USEC_PER_SEC + 1001          },
                { "1s1m",           0, 61 * USEC_PER_SEC                    },
                { "1s1s",           0, 2 * USEC_PER_SEC                     },
                { "1m0.5s",         0, 60 * USEC_PER_SEC + USEC_PER_SEC / 2 },
        };
        check_rows(parse_duration, rows, ELEMENTSOF(rows));
}

TEST(duration_range) {
        static const Row rows[] = {
                { "18446744073709551614us", 0,       UINT64_MAX - 1                             },
                { "18446744073709551615us", -ERANGE, 0                                          }, /* would mean "for ever" */
                { "18446744073709551616us", -ERANGE, 0                                          },
                { "213503982d",             0,       UINT64_C(213503982) * 86400 * USEC_PER_SEC },
                { "213503983d",             -ERANGE, 0                                          },
                { "213503982d1d",           -ERANGE, 0                                          }, /* each fits, the sum does not */
                { "99999999999999999999",   -ERANGE, 0                                          },
        };
        check_rows(parse_duration, rows, ELEMENTSOF(rows));
}

TEST(duration_garbage) {
        static const char *const texts[] = { "", "s", "ms", "-1s", "+1s", " 1s", "1s ", "1 s", "1S", "1M",
                "1MS", "1min", "1sec", "1w", "1y", "1m30", "1m30 ", "30s1", "1.s", ".5s", "1..5s", "1e3s",
                "0x1s", "1h-1m", "1ns", "for ever", "infinity", "1:30" };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                check_rows(parse_duration, &(Row) { texts[i], -EINVAL, 0 }, 1);
}

TEST(cpus) {
        static const struct {
                const char *text;
                int result;
                uint32_t milli;
        } rows[] = {
                { "1",                    0,       1000    },
                { "0.5",                  0,       500     },
                { "0.01",                 0,       10      },
                { "2.25",                 0,       2250    },
                { "1.2345",               0,       1234    },
                { "4096",                 0,       4096000 },
                { "0",                    -ERANGE, 0       },
                { "0.0",                  -ERANGE, 0       },
                { "0.009",                -ERANGE, 0       },
                { "4096.001",             -ERANGE, 0       },
                { "4294968",              -ERANGE, 0       }, /* would be 0 in 32 bits of thousandths */
                { "18446744073709551",    -ERANGE, 0       },
                { "18446744073709551616", -ERANGE, 0       },
                { "",                     -EINVAL, 0       },
                { "-1",                   -EINVAL, 0       },
                { "+1",                   -EINVAL, 0       },
                { "1 ",                   -EINVAL, 0       },
                { " 1",                   -EINVAL, 0       },
                { "1c",                   -EINVAL, 0       },
                { "50%",                  -EINVAL, 0       },
                { ".5",                   -EINVAL, 0       },
                { "1.",                   -EINVAL, 0       },
                { "1/2",                  -EINVAL, 0       },
                { "1,5",                  -EINVAL, 0       },
                { "all",                  -EINVAL, 0       },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                uint32_t milli = 77;

                check_result(rows[i].text, parse_cpus(rows[i].text, &milli), rows[i].result);
                check_uint(rows[i].text, milli, rows[i].result < 0 ? 77 : rows[i].milli);
        }
}

TEST(uint64) {
        static const struct {
                const char *text;
                uint64_t min, max;
                int result;
                uint64_t value;
        } rows[] = {
                { "0",                       0, UINT64_MAX, 0,       0          },
                { "007",                     0, UINT64_MAX, 0,       7          },
                { "18446744073709551615",    0, UINT64_MAX, 0,       UINT64_MAX },
                { "3",                       3, 5,          0,       3          },
                { "5",                       3, 5,          0,       5          },
                { "2",                       3, 5,          -ERANGE, 0          },
                { "6",                       3, 5,          -ERANGE, 0          },
                { "18446744073709551616",    0, UINT64_MAX, -ERANGE, 0          },
                { "18446744073709551625",    0, UINT64_MAX, -ERANGE, 0          },
                { "99999999999999999999999", 0, UINT64_MAX, -ERANGE, 0          },
                { "",                        0, UINT64_MAX, -EINVAL, 0          },
                { "-0",                      0, UINT64_MAX, -EINVAL, 0          },
                { "-1",                      0, UINT64_MAX, -EINVAL, 0          },
                { "+1",                      0, UINT64_MAX, -EINVAL, 0          },
                { " 1",                      0, UINT64_MAX, -EINVAL, 0          },
                { "1 ",                      0, UINT64_MAX, -EINVAL, 0          },
                { "1.0",                     0, UINT64_MAX, -EINVAL, 0          },
                { "1K",                      0, UINT64_MAX, -EINVAL, 0          },
                { "0x1",                     0, UINT64_MAX, -EINVAL, 0          },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                uint64_t value = UNTOUCHED;

                check_result(rows[i].text, parse_uint64(rows[i].text, rows[i].min, rows[i].max, &value),
                                rows[i].result);
                check_uint(rows[i].text, value, rows[i].result < 0 ? UNTOUCHED : rows[i].value);
        }
}
