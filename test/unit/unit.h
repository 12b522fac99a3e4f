/* unit.h: what the unit tests share.
 *
 * A test is TEST(name) { … } and registers itself; unit.c has main(). The checks print both sides and say what they
 * were about. They work in forked children as well, where they end the child, and with it the test.
 *
 *      test-x              runs all
 *      test-x 'wire_*'     runs those
 *
 * Exit status: 0 all held, 1 some failed, 77 none failed and some were skipped, each with its reason and cure.
 * Knows libc, cmocka and base. */
#pragma once

/* cmocka.h asks for these four. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"

typedef void (*TestFunction)(void **state);

#define TEST(name)                                                                                          \
        static void test_##name(void **state);                                                              \
        static __attribute__((constructor)) void register_##name(void) {                                    \
                unit_register(#name, test_##name);                                                          \
        }                                                                                                   \
        static void test_##name(_unused_ void **state)

void unit_register(const char *name, TestFunction function);

/* `what` goes in front of the two sides. */
#define check_int(what, found, expected)    unit_check_int(what, found, expected, __FILE__, __LINE__)
#define check_uint(what, found, expected)   unit_check_uint(what, found, expected, __FILE__, __LINE__)
#define check_result(what, found, expected) unit_check_result(what, found, expected, __FILE__, __LINE__)
#define check_string(what, found, expected) unit_check_string(what, found, expected, __FILE__, __LINE__)
#define check_part(what, text, part)        unit_check_part(what, text, part, __FILE__, __LINE__)
#define check_true(what, condition)         unit_check_true(what, condition, #condition, __FILE__, __LINE__)

void unit_check_int(const char *what, intmax_t found, intmax_t expected, const char *file, int line);
void unit_check_uint(const char *what, uintmax_t found, uintmax_t expected, const char *file, int line);

/* Numbers below zero are shown as what errno calls them. */
void unit_check_result(const char *what, intmax_t found, intmax_t expected, const char *file, int line);
void unit_check_string(
                const char *what, const char *found, const char *expected, const char *file, int line);
void unit_check_part(const char *what, const char *text, const char *part, const char *file, int line);
void unit_check_true(const char *what, int condition, const char *text, const char *file, int line);

/* Runs the function in a forked child; its checks are the test's, and so is its unit_skip(). */
void unit_run_in_child(void (*function)(void *userdata), void *userdata);

/* Where something is missing: the reason and the cure. */
_noreturn_ void unit_skip(const char *format, ...) _printf_(1, 2);

/* A directory of this run's own, removed at the end; and a path in it, good until the next call but seven. */
const char *unit_directory(void);
const char *unit_path(const char *name);
void unit_write_file(const char *path, const void *data, size_t size);
void unit_write_text(const char *path, const char *text);

/* Descriptors that are open at the moment, to find leaks. */
size_t unit_count_descriptors(void);
