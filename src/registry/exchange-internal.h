/* exchange-internal.h: what exchange's files share. Includes curl.h: for them only. */
#pragma once

#include <curl/curl.h>

#include "registry/exchange.h"

size_t exchange_on_header(char *data, size_t one, size_t size, void *userdata);
size_t exchange_on_data(char *data, size_t one, size_t size, void *userdata);

/* What libcurl's end means, as errno and in words. */
void exchange_take_end(Exchange *x, CURLcode rc);
