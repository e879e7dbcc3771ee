/* What any command line needs: numbers, and each option once. A file of its own: tandem-learn, which has no ops, uses it too.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

bool case_parse_number(const char *what, const char *text, uint64_t least, uint64_t most, uint64_t *value, char *error,
                       size_t size) {
  char *end;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  if (isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && number >= least && number <= most) {
    *value = number;
    return true;
  }
  snprintf(error, size, "%s = '%s': must be a whole number from %" PRIu64 " to %" PRIu64, what, text, least, most);
  return false;
}

bool case_parse_seconds(const char *what, const char *text, double *seconds, char *error, size_t size) {
  if (text == NULL) return true;
  char *end;
  *seconds = strtod(text, &end);
  if (end != text && *end == '\0' && *seconds >= 0.001 && *seconds <= 3600) return true;
  snprintf(error, size, "%s = '%s': must be 0.001 to 3600 seconds", what, text);
  return false;
}

bool case_given_once(int argc, const char *const argv[], char *error, size_t size) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    size_t length = strcspn(argv[i], "=");
    if (strncmp(argv[i], "--", 2) != 0 || (length == 5 && strncmp(argv[i], "--set", length) == 0)) continue;
    for (int before = 1; before < i; before++)
      if (strcspn(argv[before], "=") == length && strncmp(argv[before], argv[i], length) == 0) {
        snprintf(error, size, "%.*s: must be given once", (int)length, argv[i]);
        return false;
      }
  }
  return true;
}
