/* Landlock, by which a process gives up files, TCP, and signals and sockets to others. Source: linux/landlock.h of Linux 6.15.
 */
#ifndef TANDEM_LEARN_LANDLOCK_H
#define TANDEM_LEARN_LANDLOCK_H

#include <stdbool.h>

/* What the kernel has: 1 and up; 0, with errno: nothing. From 4 on it closes TCP, from 6 on signals. */
int landlock_version(void);

/* A set of rules; -1, with errno: none. Until landlock_restrict all is allowed. */
int landlock_begin(int version);
/* What lies at or below a path, which may be missing. false, with errno: the kernel refused the rule. */
bool landlock_allow(int rules, int version, const char *path, bool write);
/* Closes the set. The process must have no_new_privs. */
bool landlock_restrict(int rules);

#endif
