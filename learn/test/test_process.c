/* A process that writes faster than it is read must not keep the watcher from its clock. Whether a real writer does depends on
 * the scheduler: here every read finds something. */
#include "../process.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS_TO_HANG = 20 };

ssize_t __wrap_read(int file, void *to, size_t bytes);

ssize_t __wrap_read(int file, void *to, size_t bytes) {
  (void)file;
  memset(to, 'x', bytes);
  return (ssize_t)bytes;
}

/* process_verdict's, which is not called here. */
void learn_found(learn_outcome *o, learn_verdict verdict, const char *format, ...) { (void)o, (void)verdict, (void)format; }
void learn_add(learn_outcome *o, const char *format, ...) { (void)o, (void)format; }

static void wait_for_ever(void *argument) {
  (void)argument;
  for (;;) pause();
}

int main(void) {
  static process p;
  const process_work work = {.work = wait_for_ever, .seconds = 0.2, .input = -1};
  alarm(SECONDS_TO_HANG); /* a hang becomes a failure */
  bool good = process_run(&work, &p) && p.timed_out && strlen(p.text) == PROCESS_TEXT - 1;
  printf("%s\n", good ? "ended in time" : "not ended in time, or not all was read");
  return good ? 0 : 1;
}
