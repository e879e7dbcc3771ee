/* Ends without the runtime's own end: the counts must survive. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
  int x = 1;
#pragma omp target map(tofrom : x)
  x++;
  printf("leave: x = %d\n", x);
  fflush(stdout);
  _exit(x == 2 ? 5 : 6);
}
