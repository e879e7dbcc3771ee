// try omp-axpy: verdict: does not compile | Permission denied
// also without: namespaces seccomp
#include "/etc/passwd"
