#include "init/begin.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include "base/fd.h"

#define NOFILE_MAX 16384

/* Blocks all signals and resets all actions to their defaults; children inherit both. */
int begin_signals(void) {
        sigset_t set;

        (void) sigfillset(&set);
        if (sigprocmask(SIG_SETMASK, &set, NULL) < 0)
                return -1;
        for (int signal_number = 1; signal_number < _NSIG; signal_number++)
                (void) sigaction(signal_number, &(struct sigaction) { .sa_handler = SIG_DFL }, NULL);
        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGCHLD);
        (void) sigaddset(&set, SIGUSR1);
        return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* PID 1 holds an end of every open input. Commands get a limit of their own. */
void begin_nofile(void) {
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return;
        limit.rlim_cur = MIN_OF(limit.rlim_max, (rlim_t) NOFILE_MAX);
        (void) setrlimit(RLIMIT_NOFILE, &limit);
}

bool begin_is_spared_by_oom(void) {
        char text[16];

        return file_read(AT_FDCWD, "/proc/self/oom_score_adj", text, sizeof(text)) > 0 && text[0] == '-';
}
