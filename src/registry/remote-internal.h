/* remote-internal.h: shared by remote.c and remote-login.c. */
#pragma once

#include "registry/remote.h"

/* Reads COVE_REGISTRY_AUTH ("user:password" or "bearer TOKEN") and wipes it from the environment. */
int remote_take_credentials(Remote *r, Error *reterr);
void remote_forget(char **secret);
