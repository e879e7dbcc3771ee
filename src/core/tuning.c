/* Kernels with parameters in text form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuning.h"

static const char *const names[TDM_PARAMETERS] = {"window", "chunk", "split", "depth"};

static const char form[] = "must be NAME or NAME:PARAMETER=N:..., PARAMETER one of window, chunk, split, depth";

/* One "window=4" of `length` characters. */
static bool parse_parameter(const char *text, int length, tdm_tuning *tuning, char *reason, size_t size) {
  for (int p = 0; p < TDM_PARAMETERS; p++) {
    int name = (int)strlen(names[p]);
    if (length <= name || strncmp(text, names[p], (size_t)name) != 0 || text[name] != '=') continue;
    int value = 0;
    bool good = length > name + 1;
    for (int i = name + 1; i < length && good; i++) {
      good = text[i] >= '0' && text[i] <= '9';
      value = good ? 10 * value + text[i] - '0' : 0;
      good = good && value <= TDM_MOST_PARAMETER;
    }
    if (!good || value == 0) {
      snprintf(reason, size, "'%.*s': %s must be 1 to %d", length, text, names[p], TDM_MOST_PARAMETER);
      return false;
    }
    if (tuning->of[p] != 0) {
      snprintf(reason, size, "'%.*s': %s was given before", length, text, names[p]);
      return false;
    }
    tuning->of[p] = value;
    return true;
  }
  snprintf(reason, size, "'%.*s': %s", length, text, form);
  return false;
}

bool tdm_choice_parse(const char *text, int length, tdm_choice *choice, char *reason, size_t size) {
  const char *end = text + length, *colon = memchr(text, ':', (size_t)length);
  *choice = (tdm_choice){.name = text, .name_length = (int)((colon == NULL ? end : colon) - text)};
  if (choice->name_length == 0) {
    snprintf(reason, size, "'%.*s': %s", length, text, form);
    return false;
  }
  for (const char *at = colon; at != NULL;) {
    const char *next = memchr(at + 1, ':', (size_t)(end - at - 1));
    int of = (int)((next == NULL ? end : next) - at - 1);
    if (!parse_parameter(at + 1, of, &choice->tuning, reason, size)) return false;
    at = next;
  }
  return true;
}

void tdm_tuning_print(const tdm_tuning *tuning, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int p = 0; p < TDM_PARAMETERS && used < size; p++)
    if (tuning->of[p] != 0) used += (size_t)snprintf(text + used, size - used, ":%s=%d", names[p], tuning->of[p]);
}

void tdm_parameter_names(unsigned takes, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int p = 0; p < TDM_PARAMETERS && used < size; p++)
    if (takes >> p & 1) used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "", names[p]);
}

bool tdm_tuning_taken(const tdm_tuning *tuning, const char *kernel, unsigned takes, char *reason, size_t size) {
  for (int p = 0; p < TDM_PARAMETERS; p++) {
    if (tuning->of[p] == 0 || takes >> p & 1) continue;
    char text[64];
    tdm_parameter_names(takes, text, sizeof text);
    snprintf(reason, size, "%s = %d: %s takes %s", names[p], tuning->of[p], kernel, takes == 0 ? "no parameters" : text);
    return false;
  }
  return true;
}
