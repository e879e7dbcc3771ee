/* The sandbox keeps a compiler, and code that a user wrote, away from files, processes, the network and this program. Every try
 * prints the parts that the kernel lacks (sandbox_describe); README.md lists what is not protected. */
#ifndef TANDEM_LEARN_SANDBOX_H
#define TANDEM_LEARN_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { SANDBOX_PATHS = 96, SANDBOX_TEXT = 600 };

/* Layers, as bits. */
enum { SANDBOX_LANDLOCK = 1, SANDBOX_NAMESPACES = 2, SANDBOX_SECCOMP = 4, SANDBOX_LAYERS = 3 };

/* What this machine has. */
typedef struct sandbox_means {
  int landlock; /* version; 0: none */
  int clone;    /* flags of the namespaces that a child gets; 0: none */
  bool seccomp;
  uid_t user; /* whose processes run no other program; 0: they run as the caller */
  int landlock_error, clone_error, mount_error, seccomp_error, user_error;
  const char *path; /* that the user could not reach; NULL: none */
  unsigned without; /* layers that were asked to be left out */
} sandbox_means;

/* What a child may do. */
typedef struct sandbox {
  const sandbox_means *means;
  const char *read[SANDBOX_PATHS]; /* files, and folders with all below */
  int reads;
  const char *write; /* a folder; NULL: no file at all */
  double seconds;
  bool processes; /* it may start programs */
  bool device;    /* it uses the driver of a GPU: only writes to files are refused, and other layers are left out */
} sandbox;

/* Tries what there is, once. The caller must have no threads. */
void sandbox_find(unsigned without, sandbox_means *m);
/* A program or folder that the child needs. Where a user of its own can't reach it, and no Landlock says what it may read in
 * spite of that, the child stays the caller, which sandbox_describe then says. */
void sandbox_needs(sandbox_means *m, const char *path);
/* "Landlock 7, ...; missing: ...", in one line. */
void sandbox_describe(const sandbox_means *m, bool device, char *text, size_t size);
/* "landlock,seccomp" as bits; false: a name is unknown. */
bool sandbox_parse(const char *names, unsigned *layers);

void sandbox_read(sandbox *s, const char *path);
/* What programs need to start: libraries and what they ask of the machine. */
void sandbox_read_system(sandbox *s);

/* In a new child of clone: gives it the ids that the caller had before. */
bool sandbox_map_user(const sandbox_means *m, uid_t user, gid_t group);
/* In the child that is to be closed in. Leaves an error in text. */
bool sandbox_enter(const sandbox *s, char *text, size_t size);

#endif
