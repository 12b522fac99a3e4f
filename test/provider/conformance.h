/* conformance.h: what conformance.c asks of a provider under test.
 *
 * A provider brings one file that defines provider_factory; linked with conformance.c, it is a test program. The suite makes a provider, asks it by
 * core/provider.h alone and checks the answers: the mandatory contract, and each capability that the provider has. What it lacks has to be refused by name. */
#pragma once

#include <systemd/sd-event.h>

#include "core/provider.h"

typedef struct ProviderFactory {
        /* A provider on the loop that says up() soon. Called again after the former one was freed, it finds the same sandboxes: a restart of the daemon.
         * NULL: it cannot run here; the reason and the cure are in reterr. */
        Provider *(*make)(sd_event *event, const char *state_dir, Error *reterr);
        const char *(*workdir)(void); /* a directory inside that the sandbox's user can write to */
} ProviderFactory;

extern const ProviderFactory provider_factory;
