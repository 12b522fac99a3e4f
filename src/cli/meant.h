/* meant.h: verbs that cove does not have, and what they are called here. Knows verbs.def, and no verb's function. */
#pragma once

/* What to write instead of a word that is no verb, as in "`cove template pull`"; NULL: nothing is near enough. */
const char *verb_meant(const char *word);
