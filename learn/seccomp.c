#include "seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0
#endif

/* Calls that a compiler and a kernel have no use for: the network, other processes, the machine. Older headers lack the number
 * of newer calls; these are the same on all processors. */
#define ALWAYS(_)                               \
  _(SYS_socket, "socket")                       \
  _(SYS_socketpair, "socketpair")               \
  _(SYS_ptrace, "ptrace")                       \
  _(SYS_process_vm_readv, "process_vm_readv")   \
  _(SYS_process_vm_writev, "process_vm_writev") \
  _(SYS_tkill, "tkill")                         \
  _(SYS_rt_sigqueueinfo, "rt_sigqueueinfo")     \
  _(SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo") \
  _(424, "pidfd_send_signal")                   \
  _(434, "pidfd_open")                          \
  _(438, "pidfd_getfd")                         \
  _(440, "process_madvise")                     \
  _(425, "io_uring_setup")                      \
  _(SYS_unshare, "unshare")                     \
  _(SYS_setns, "setns")                         \
  _(SYS_mount, "mount")                         \
  _(SYS_umount2, "umount2")                     \
  _(429, "move_mount")                          \
  _(430, "fsopen")                              \
  _(428, "open_tree")                           \
  _(SYS_pivot_root, "pivot_root")               \
  _(SYS_chroot, "chroot")                       \
  _(SYS_open_by_handle_at, "open_by_handle_at") \
  _(SYS_bpf, "bpf")                             \
  _(SYS_perf_event_open, "perf_event_open")     \
  _(SYS_userfaultfd, "userfaultfd")             \
  _(SYS_add_key, "add_key")                     \
  _(SYS_request_key, "request_key")             \
  _(SYS_keyctl, "keyctl")                       \
  _(SYS_shmget, "shmget")                       \
  _(SYS_msgget, "msgget")                       \
  _(SYS_semget, "semget")                       \
  _(SYS_mq_open, "mq_open")                     \
  _(SYS_fanotify_init, "fanotify_init")         \
  _(SYS_init_module, "init_module")             \
  _(SYS_finit_module, "finit_module")           \
  _(SYS_kexec_load, "kexec_load")               \
  _(SYS_reboot, "reboot")                       \
  _(SYS_swapon, "swapon")                       \
  _(SYS_personality, "personality")
#ifdef SYS_fork
#define OLD_FORKS(_) _(SYS_fork, "fork") _(SYS_vfork, "vfork")
#else
#define OLD_FORKS(_)
#endif
#define PROCESSES(_) _(SYS_execve, "execve") _(SYS_execveat, "execveat") OLD_FORKS(_)
/* Refused by their arguments. */
#define SOMETIMES(_) _(SYS_kill, "kill") _(SYS_tgkill, "tgkill") _(SYS_clone, "fork") _(435, "clone3")

#define NUMBER(number, name) number,
#define ROW(number, name) {number, name},
static const int always[] = {ALWAYS(NUMBER)}, processes[] = {PROCESSES(NUMBER)};
static const struct {
  int call;
  const char *name;
} names[] = {ALWAYS(ROW) PROCESSES(ROW) SOMETIMES(ROW)};
enum { ALWAYS_COUNT = sizeof always / sizeof always[0], PROCESSES_COUNT = sizeof processes / sizeof processes[0] };

const char *seccomp_name(int call) {
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
    if (names[n].call == call) return names[n].name;
  return NULL;
}

enum { CLONE3 = 435, X32 = 0x40000000, PROGRAM_MOST = 160 };
/* Every flag that makes a namespace, CLONE_NEWCGROUP too. */
static const uint32_t new_namespaces = 0x7e020000;

typedef struct program {
  struct sock_filter line[PROGRAM_MOST];
  int count;
} program;

static void put(program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no) {
  p->line[p->count++] = (struct sock_filter){code, yes, no, k};
}

/* if (the loaded word == k) return action */
static void when(program *p, uint32_t k, uint32_t action) {
  put(p, BPF_JMP | BPF_JEQ | BPF_K, k, 0, 1);
  put(p, BPF_RET | BPF_K, action, 0, 0);
}

/* Signals only to this process. `call` is loaded before these lines, and still is after them. */
static void put_kill(program *p, uint32_t call, uint32_t refuse) {
  put(p, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
  put(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]), 0, 0); /* the lower half: a pid is an int */
  put(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0);
  put(p, BPF_RET | BPF_K, refuse, 0, 0);
  put(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* A filter can't read clone3's flags, which are in memory. Without clone3 libraries fall back to clone. */
static void put_clone(program *p, bool threads_only, uint32_t refuse) {
  when(p, CLONE3, SECCOMP_RET_ERRNO | ENOSYS);
  put(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, (uint8_t)(threads_only ? 6 : 4));
  put(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]), 0, 0);
  put(p, BPF_JMP | BPF_JSET | BPF_K, new_namespaces, 0, 1);
  put(p, BPF_RET | BPF_K, refuse, 0, 0);
  if (threads_only) {
    put(p, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    put(p, BPF_RET | BPF_K, refuse, 0, 0);
  }
  put(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

bool seccomp_restrict(unsigned how) {
  program p = {.count = 0};
  uint32_t refuse = (how & SECCOMP_TRAPS) != 0 ? SECCOMP_RET_TRAP : SECCOMP_RET_ERRNO | EPERM;
  if (ARCHITECTURE == 0) {
    errno = ENOSYS;
    return false;
  }
  put(&p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
  put(&p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0); /* calls of another word size have other numbers */
  put(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
  put(&p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
  if (ARCHITECTURE == AUDIT_ARCH_X86_64) {
    put(&p, BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
    put(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
  }
  for (int n = 0; n < ALWAYS_COUNT; n++) when(&p, (uint32_t)always[n], refuse);
  for (int n = 0; n < PROCESSES_COUNT && (how & SECCOMP_NO_PROCESSES) != 0; n++) when(&p, (uint32_t)processes[n], refuse);
  put_kill(&p, SYS_kill, refuse);
  put_kill(&p, SYS_tgkill, refuse);
  put_clone(&p, (how & SECCOMP_NO_PROCESSES) != 0, refuse);
  put(&p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  struct sock_fprog all = {.len = (unsigned short)p.count, .filter = p.line};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all, 0, 0) == 0;
}
