/* Wrong: the program has opened the runtime, and its child runs a kernel. As with ROCm, a child has none of the parent's
 * queues; it must get an error, and not wait for ever. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  int y = 1;
#pragma omp target map(tofrom : y)
  y++;
  pid_t child = fork();
  if (child < 0) return 2;
  if (child == 0) {
    int x = 1;
#pragma omp target map(tofrom : x)
    x++;
    _exit(x == 2 ? 0 : 1);
  }
  int status;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
