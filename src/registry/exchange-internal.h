/* exchange-internal.h: shared by exchange.c and exchange-answer.c. */
#pragma once

#include "registry/exchange.h"

void exchange_on_header(const char *name, const char *value, void *userdata);
int exchange_on_data(unsigned status, const void *data, size_t size, void *userdata);
