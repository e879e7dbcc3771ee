#include "child.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

size_t child_span(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

bool child_write(const void *data, size_t bytes) {
  const unsigned char *at = data;
  while (bytes > 0) {
    ssize_t wrote = write(CHILD_RESULTS, at, bytes);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    at += wrote;
    bytes -= (size_t)wrote;
  }
  return true;
}

bool child_send(child_kind kind, int shape, const void *payload, size_t bytes) {
  child_message head = {(uint32_t)kind, (uint32_t)shape, bytes};
  return child_write(&head, sizeof head) && child_write(payload, bytes);
}

bool child_say(uint32_t verdict, const char *text) {
  child_message head = {CHILD_FOUND, 0, sizeof verdict + strlen(text)};
  return child_write(&head, sizeof head) && child_write(&verdict, sizeof verdict) && child_write(text, strlen(text));
}
