// try axpy: verdict: does not compile | Permission denied
// also without: namespaces seccomp
#include "@FOLDER@/axpy/solution.hip"
