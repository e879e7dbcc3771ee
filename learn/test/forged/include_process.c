// try omp-axpy: verdict: does not compile
// also without: namespaces seccomp landlock
#include "/proc/1/environ"
