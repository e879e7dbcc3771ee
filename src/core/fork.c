/* GPUs and fork: the driver's state of a GPU belongs to the process that opened it, and its calls in a child fail, hang or end
 * the child. This file finds out whether this process is such a child. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "context.h"

static atomic_bool opened; /* this process has opened a GPU */
static bool lost;          /* its parent had, or the parent's parent */

/* Only the thread that forks is in the child. */
static void in_child(void) {
  if (atomic_load(&opened)) lost = true;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int atfork_error;
static void watch(void) { atfork_error = pthread_atfork(NULL, NULL, in_child); }

tdm_status tdm_gpu_opened(tdm_context *context) {
  pthread_once(&once, watch);
  if (atfork_error != 0) return tdm_fail(TDM_ERROR_MEMORY, "open: no memory to be told of forks: %s", strerror(atfork_error));
  atomic_store(&opened, true);
  context->on_gpu = true;
  return TDM_OK;
}

bool tdm_gpu_lost(void) { return lost; }

tdm_status tdm_fail_lost(const char *what, const char *device) {
  return tdm_fail(
      TDM_ERROR_UNSUPPORTED,
      "%s: device %s: this is the child of a fork, and a GPU that was opened before it is the parent's alone: use it "
      "there, or start the child with exec (in Python: the start method spawn)",
      what, device);
}

tdm_status tdm_context_check(const char *what, const tdm_context *context) {
  if (context == NULL) return tdm_fail(TDM_ERROR_ARGUMENT, "%s: context = NULL: must come from tdm_open", what);
  return tdm_context_lost(context) ? tdm_fail_lost(what, context->device) : TDM_OK;
}
