/* macro.h: the few language helpers that everything uses.
 *
 * Cleanup attributes, ownership hand-over, array length. Knows libc only. */
#pragma once

#include <stddef.h>

#define ELEMENTSOF(a) (sizeof(a) / sizeof((a)[0]))

#define MIN_OF(a, b)                                                                                         \
        ({                                                                                                   \
                typeof(a) _min_a = (a);                                                                      \
                typeof(b) _min_b = (b);                                                                      \
                _min_a < _min_b ? _min_a : _min_b;                                                           \
        })
#define MAX_OF(a, b)                                                                                         \
        ({                                                                                                   \
                typeof(a) _max_a = (a);                                                                      \
                typeof(b) _max_b = (b);                                                                      \
                _max_a > _max_b ? _max_a : _max_b;                                                           \
        })

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _printf_(fmt, args) __attribute__((format(printf, fmt, args)))
#define _noreturn_ __attribute__((noreturn))
#define _unused_ __attribute__((unused))
/* The caller must use the result: script/lint enforces it, even against a cast to void. */
#define _must_check_ __attribute__((warn_unused_result))

/* Hands ownership on: empties the variable, so that its cleanup does nothing. */
#define TAKE_PTR(p)                                                                                          \
        ({                                                                                                   \
                typeof(p) *_take_pp = &(p);                                                                  \
                typeof(p) _take_p = *_take_pp;                                                               \
                *_take_pp = NULL;                                                                            \
                _take_p;                                                                                     \
        })
#define TAKE_FD(fd)                                                                                          \
        ({                                                                                                   \
                int *_take_fdp = &(fd);                                                                      \
                int _take_fd = *_take_fdp;                                                                   \
                *_take_fdp = -EBADF;                                                                         \
                _take_fd;                                                                                    \
        })

/* Makes NAMEp() out of NAME(), which takes a pointer or NULL: for _cleanup_(NAMEp). */
#define DEFINE_CLEANUP(type, name)                                                                           \
        static inline void name##p(type **p) {                                                               \
                (void) name(*p);                                                                             \
        }

void freep(void *p);
/* Frees each of them: FREE_ALL(a->name, a->path). */
void free_all(void *const *items, size_t n);
#define FREE_ALL(...) free_all((void *const[]) { __VA_ARGS__ }, ELEMENTSOF(((void *const[]) { __VA_ARGS__ })))
#define _cleanup_free_ _cleanup_(freep)
