/* remote-internal.h: what remote's files share. */
#pragma once

#include "registry/remote.h"

/* COVE_REGISTRY_AUTH: "user:password" or "bearer TOKEN"; wiped from the environment. */
int remote_take_credentials(Remote *r, Error *reterr);
void remote_forget(char **secret);
