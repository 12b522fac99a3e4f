#include "cli/verbs.h"
int verb_doctor(int argc, char **argv) {
        return 0;
}
