// try omp-axpy: verdict: forbidden | process_vm_writev
// also without: landlock namespaces seccomp
#include <sys/uio.h>
#include <unistd.h>

extern ssize_t process_vm_writev(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
                                 unsigned long);

static int attack(void) {
  static char byte;
  struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
  return process_vm_writev(getppid(), &here, 1, &there, 1, 0) == 1;
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
