/* A filter of system calls for processes that compile or run a user's code. */
#ifndef TANDEM_LEARN_SECCOMP_H
#define TANDEM_LEARN_SECCOMP_H

#include <stdbool.h>

enum {
  SECCOMP_NO_PROCESSES = 1, /* no new process and no new program, only threads */
  SECCOMP_TRAPS = 2         /* a refused call is a SIGSYS; otherwise it fails with EPERM */
};

/* false, with errno: the kernel has no filters, or none for this processor. The process must have no_new_privs. */
bool seccomp_restrict(unsigned how);
/* "ptrace"; NULL: none that is refused. */
const char *seccomp_name(int call);

#endif
