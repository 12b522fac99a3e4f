/* meant.h: suggestions for verbs that cove does not have. Knows verbs.def, but no verb's function. */
#pragma once

/* What to write instead of an unknown verb, e.g. "`cove template pull`". NULL: no close match. */
const char *verb_meant(const char *word);
