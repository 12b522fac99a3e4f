/* Messages between coved and PID 1, as an enemy may write them: what is taken is exactly what we would have sent. The
 * strings of an execution are then given to whoever makes argv of them. */
#include "fuzz.h"

#include "init/strings.h"
#include "wire/guest.h"

static void check_list(char *const *list, uint32_t n, const uint8_t *begin, const uint8_t *end) {
        for (uint32_t i = 0; i < n; i++) {
                const uint8_t *text = (const uint8_t *) list[i];

                MUST(text > begin && text < end);
                MUST(text[-1] == 0);
                MUST(memchr(text, 0, (size_t) (end - text)));
        }
        MUST(!list[n]);
}

static void check_strings(const GuestExec *e) {
        uint8_t *copy = malloc(e->strings_size + 1); /* of its own size, but for a pointer that is not NULL */
        Strings s;

        MUST(copy);
        if (e->strings_size > 0)
                memcpy(copy, e->strings, e->strings_size);
        if (strings_parse(copy, e->strings_size, e->n_args, e->n_env, e->uid, &s) >= 0) {
                MUST(e->n_args > 0);
                MUST((const uint8_t *) s.workdir == copy);
                check_list(s.argv, e->n_args, copy, copy + e->strings_size);
                check_list(s.envp, e->n_env, copy, copy + e->strings_size);
                MUST(s.path);
                strings_done(&s);
        }
        free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static uint8_t encoded[GUEST_MESSAGE_MAX];
        static GuestMessage m, again;
        ssize_t n;

        if (guest_decode(data, size, &m) < 0)
                return 0;
        n = guest_encode(&m, encoded, sizeof(encoded));
        MUST(n >= 0 && (size_t) n == size);
        MUST(memcmp(encoded, data, size) == 0);
        MUST(guest_decode(encoded, (size_t) n, &again) == 0);
        if (m.type == GUEST_EXEC && !(m.exec.flags & GUEST_EXEC_BLOB))
                check_strings(&m.exec);
        return 0;
}
