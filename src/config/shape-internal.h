/* shape-internal.h: shared by the files of the YAML driver (shape.h). */
#pragma once

#include "config/shape.h"

bool yaml_is_name(const char *text); /* letters, digits, '_', '-', '.'; begins with a letter or digit */

void yaml_read_word(const YamlValue *v);
void yaml_read_text(const YamlValue *v);
void yaml_read_name(const YamlValue *v);
void yaml_read_strings(const YamlValue *v);
void yaml_read_env(const YamlValue *v);
