/* What a process inside may send to PID 1's side, whatever program it is: what is taken is exactly what we would have sent. The strings
 * of a request are then given to whoever makes argv of them. */
#include "fuzz.h"

#include "init/strings.h"
#include "wire/sudo.h"

static void check_strings(const SudoRun *q) {
        uint8_t *copy = malloc(q->strings_size);
        Strings s;

        MUST(copy);
        memcpy(copy, q->strings, q->strings_size);
        if (strings_parse(copy, q->strings_size, q->n_args, q->n_env, q->uid, &s) >= 0) {
                size_t n = strlen(s.workdir) + 1;

                for (uint32_t i = 0; i < q->n_args; i++)
                        n += strlen(s.argv[i]) + 1;
                for (uint32_t i = 0; i < q->n_env; i++)
                        n += strlen(s.envp[i]) + 1;
                MUST(n == q->strings_size);
                MUST(!s.argv[q->n_args] && !s.envp[q->n_env] && s.argv[0][0]);
                strings_done(&s);
        }
        free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static uint8_t encoded[SUDO_MESSAGE_MAX];
        SudoMessage m;
        ssize_t n;

        if (sudo_decode(data, size, &m) < 0)
                return 0;
        n = sudo_encode(&m, encoded, sizeof(encoded));
        MUST(n >= 0 && (size_t) n == size);
        MUST(memcmp(encoded, data, size) == 0);
        if (m.type != SUDO_RUN)
                return 0;
        MUST(sudo_n_fds(m.run.flags) <= SUDO_FDS_MAX);
        MUST(!m.run.strings == !!(m.run.flags & SUDO_BLOB));
        if (m.run.strings)
                check_strings(&m.run);
        return 0;
}
