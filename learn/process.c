#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"

enum { SLICE_MS = 20, PIECES = 64, CHILDREN = 256, ENDING_SECONDS = 2 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) { interrupted = number; }

void process_catch_interrupts(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = on_interrupt};
  for (size_t s = 0; s < sizeof signals / sizeof signals[0]; s++) sigaction(signals[s], &action, NULL);
}

bool process_interrupted(void) { return interrupted != 0; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Descendants. While a child runs, this process is the parent of all whose own has ended, also of those that have left its
 * group or session. ---- */

/* Our children, as /proc has them. */
typedef struct children {
  pid_t pid[CHILDREN];
  int count;
} children;

static pid_t parent_of(const char *pid) {
  char path[288], line[512], *name_end;
  snprintf(path, sizeof path, "/proc/%s/stat", pid);
  FILE *f = fopen(path, "r");
  if (f == NULL) return 0; /* it has ended since */
  bool got = fgets(line, sizeof line, f) != NULL;
  fclose(f);
  int parent = 0; /* "PID (NAME) STATE PARENT ..." */
  if (got && (name_end = strrchr(line, ')')) != NULL) sscanf(name_end + 1, " %*c %d", &parent);
  return (pid_t)parent;
}

static bool list_children(children *c) {
  DIR *all = opendir("/proc");
  struct dirent *entry;
  c->count = 0;
  if (all == NULL) return false;
  while ((entry = readdir(all)) != NULL && c->count < CHILDREN)
    if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name) && parent_of(entry->d_name) == getpid())
      c->pid[c->count++] = (pid_t)atoi(entry->d_name);
  closedir(all);
  return c->count < CHILDREN;
}

/* Ends all children that were not there before, and whatever becomes our child by that. Says how many there were. */
static int end_descendants(const children *before) {
  double until = now() + ENDING_SECONDS;
  int ended = 0;
  for (bool some = true; some && now() < until;) {
    children c;
    some = false;
    list_children(&c);
    for (int i = 0; i < c.count; i++) {
      bool was = false;
      for (int k = 0; k < before->count; k++) was |= before->pid[k] == c.pid[i];
      if (was) continue;
      kill(c.pid[i], SIGKILL);
      while (waitpid(c.pid[i], NULL, 0) < 0 && errno == EINTR) {}
      some = true;
      ended++;
    }
  }
  return ended;
}

/* ---- A child: of this process, or of one between that is the first in a namespace of processes. When that one ends, the
 * kernel ends all in the namespace. ---- */

/* What our own part of a child reports, through a pipe that the user's code never gets. */
typedef struct notice {
  bool ended; /* the one between: the child has ended so */
  int status, left;
  char text[256]; /* otherwise: why the child could not begin */
} notice;

enum { WORDS, RESULTS, NOTICES, PIPES };

typedef struct pipes {
  int end[PIPES][2]; /* -1: not there */
} pipes;

static void put_notice(const pipes *by, const notice *n) {
  if (write(by->end[NOTICES][1], n, sizeof *n) != (ssize_t)sizeof *n) _exit(126);
}

static void give_up(const pipes *by, const char *what) {
  notice n = {.ended = false};
  snprintf(n.text, sizeof n.text, "%s", what);
  put_notice(by, &n);
  _exit(126);
}

static void close_from(int first) {
  if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0) return;
  for (int file = first; file < 1024; file++) close(file);
}

/* The child is a process group of its own, so that what it starts can be ended with it at once. */
static void child(const process_work *w, const pipes *by) {
  char text[200];
  struct rlimit none = {0, 0};
  setpgid(0, 0);
  setrlimit(RLIMIT_CORE, &none);
  static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  for (size_t s = 0; s < sizeof caught / sizeof caught[0]; s++) signal(caught[s], SIG_DFL);
  int in = w->input >= 0 ? w->input : open("/dev/null", O_RDONLY);
  if (in < 0 || dup2(in, 0) < 0 || dup2(by->end[WORDS][1], 1) < 0 || dup2(by->end[WORDS][1], 2) < 0)
    give_up(by, "no stdin or stdout");
  /* pipes have numbers above 2; CHILD_RESULTS may be the number of another one, which then is closed as all others are */
  int results = w->take != NULL ? fcntl(by->end[RESULTS][1], F_DUPFD, 10) : -1,
      notices = fcntl(by->end[NOTICES][1], F_DUPFD_CLOEXEC, 10);
  pipes kept = {{{-1, -1}, {-1, -1}, {-1, notices}}};
  if (notices < 0 || (w->take != NULL && (results < 0 || dup2(results, CHILD_RESULTS) < 0))) give_up(by, "no pipes");
  if (w->sandbox != NULL && !sandbox_enter(w->sandbox, text, sizeof text)) give_up(&kept, text);
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* another user, in sandbox_enter, would take it away */
  close_from(w->take != NULL ? CHILD_RESULTS + 1 : CHILD_RESULTS);
  w->work(w->argument);
  fflush(stdout);
  _exit(0);
}

static void between(const process_work *w, const pipes *by, uid_t user, gid_t group) {
  notice n = {.ended = true};
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!sandbox_map_user(w->sandbox->means, user, group)) give_up(by, "no names of users in a namespace");
  pid_t pid = fork(), ended;
  if (pid == 0) child(w, by);
  if (pid < 0) give_up(by, "no process");
  close(by->end[WORDS][1]);
  if (w->take != NULL) close(by->end[RESULTS][1]);
  while ((ended = wait(&n.status)) != pid)
    if (ended < 0 && errno != EINTR) _exit(126);
  kill(-1, SIGKILL); /* all in this namespace except for this process */
  while ((ended = wait(NULL)) > 0 || errno == EINTR) n.left += ended > 0;
  put_notice(by, &n);
  _exit(0);
}

/* Takes what is there, up to PIECES: a writer that never stops must not keep us from the clock. false: the other end is
 * closed. */
static bool take(int words, process *p, size_t *used) {
  char piece[4096];
  ssize_t got = 1;
  for (int n = 0; n < PIECES && (got = read(words, piece, sizeof piece)) > 0; n++) {
    size_t room = sizeof p->text - 1 - *used, keep = (size_t)got < room ? (size_t)got : room;
    memcpy(p->text + *used, piece, keep);
    *used += keep;
  }
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* The same of results, for their reader; *seconds grows by the time that it takes. */
static bool take_results(const process_work *w, int results, process *p, double *seconds) {
  static unsigned char piece[65536];
  ssize_t got = 1;
  for (int n = 0; n < PIECES && !p->stopped && (got = read(results, piece, sizeof piece)) > 0; n++) {
    double begin = now();
    p->stopped = !w->take(w->user, piece, (size_t)got);
    *seconds += now() - begin;
  }
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* It is not reaped yet, so that its number stays that of its group. */
static bool has_ended(pid_t pid) {
  siginfo_t info = {0};
  return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

static bool has_more(int file) {
  struct pollfd now = {.fd = file, .events = POLLIN};
  return poll(&now, 1, 0) == 1 && (now.revents & POLLIN) != 0;
}

/* false: the child could not begin. */
static bool take_notice(int notices, process *p) {
  notice n;
  if (read(notices, &n, sizeof n) != (ssize_t)sizeof n) return true;
  if (n.ended) {
    p->status = n.status;
    p->left = n.left;
    return true;
  }
  n.text[sizeof n.text - 1] = '\0';
  snprintf(p->text, sizeof p->text, "the sandbox can't be set up: %s", n.text);
  return false;
}

static bool watch(const process_work *w, pid_t pid, const pipes *by, const children *before, process *p) {
  double until = now() + w->seconds;
  size_t used = 0;
  bool words = true, results = w->take != NULL, ended = false;
  while (!ended && !p->stopped && now() < until && !process_interrupted()) {
    struct pollfd wait[] = {{.fd = words ? by->end[WORDS][0] : -1, .events = POLLIN},
                            {.fd = results ? by->end[RESULTS][0] : -1, .events = POLLIN}};
    poll(wait, 2, SLICE_MS);
    if (words) words = take(by->end[WORDS][0], p, &used);
    if (results) results = take_results(w, by->end[RESULTS][0], p, &until);
    ended = has_ended(pid);
  }
  p->timed_out = !ended && !p->stopped && !process_interrupted();
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  while (waitpid(pid, &p->status, 0) < 0 && errno == EINTR) {}
  p->left = end_descendants(before);
  take(by->end[WORDS][0], p, &used);
  /* no process is there that could write more: all that is in the pipe */
  while (w->take != NULL && !p->stopped && has_more(by->end[RESULTS][0])) take_results(w, by->end[RESULTS][0], p, &until);
  p->text[used] = '\0';
  return w->sandbox == NULL || take_notice(by->end[NOTICES][0], p);
}

static bool make_pipes(const process_work *w, pipes *by) {
  *by = (pipes){{{-1, -1}, {-1, -1}, {-1, -1}}};
  for (int n = 0; n < PIPES; n++) {
    if (n == RESULTS && w->take == NULL) continue;
    if (pipe2(by->end[n], O_CLOEXEC) != 0 || fcntl(by->end[n][0], F_SETFL, O_NONBLOCK) != 0) return false;
  }
  return true;
}

static void close_pipes(const pipes *by, int end) {
  for (int n = 0; n < PIPES; n++)
    if (by->end[n][end] >= 0) close(by->end[n][end]);
}

static pid_t start(const process_work *w, const pipes *by) {
  int flags = w->sandbox != NULL && !w->sandbox->device ? w->sandbox->means->clone : 0;
  uid_t user = geteuid();
  gid_t group = getegid();
  if (flags == 0) {
    pid_t pid = fork();
    if (pid == 0) child(w, by);
    return pid;
  }
  pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) between(w, by, user, group);
  return pid;
}

bool process_run(const process_work *w, process *p) {
  pipes by;
  children before;
  *p = (process){.status = -1};
  fflush(NULL); /* else the child would write it a second time */
  if (!list_children(&before)) {
    snprintf(p->text, sizeof p->text, "/proc can't be read, or has more than %d children of this process", CHILDREN);
    return false;
  }
  bool good = make_pipes(w, &by);
  if (!good) {
    snprintf(p->text, sizeof p->text, "no pipe: %s", strerror(errno));
    close_pipes(&by, 0);
    close_pipes(&by, 1);
    return false;
  }
  int dumpable = prctl(PR_GET_DUMPABLE);
  prctl(PR_SET_DUMPABLE, 0); /* closes /proc/PID/mem and ptrace to processes of the same user */
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_t pid = start(w, &by);
  if (pid < 0) snprintf(p->text, sizeof p->text, "no process: %s", strerror(errno));
  close_pipes(&by, 1);
  if (pid > 0) {
    setpgid(pid, pid); /* also here: whichever comes first */
    good = watch(w, pid, &by, &before, p);
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  prctl(PR_SET_DUMPABLE, dumpable);
  close_pipes(&by, 0);
  return pid > 0 && good;
}

void process_verdict(const process *p, double seconds, bool finished, learn_outcome *o) {
  bool bad = WIFSIGNALED(p->status) || WEXITSTATUS(p->status) != 0 || !finished;
  if (process_interrupted()) {
    learn_found(o, LEARN_FAILED, "interrupted");
  } else if (p->timed_out) {
    learn_found(o, LEARN_ENDLESS, "it ran longer than %g s", seconds);
  } else if (bad && strstr(p->text, "runtime error: ") != NULL) { /* the sanitizer's words */
    learn_found(o, strstr(p->text, "out of bounds") != NULL ? LEARN_BOUNDS : LEARN_CRASH, "undefined behaviour:");
  } else if (WIFSIGNALED(p->status) && WTERMSIG(p->status) == SIGSYS) { /* it kept the runner from telling which */
    learn_found(o, LEARN_FORBIDDEN, "it made a forbidden system call");
  } else if (WIFSIGNALED(p->status)) {
    learn_found(o, LEARN_CRASH, "it was ended by a signal: %s", strsignal(WTERMSIG(p->status)));
  } else if (bad) {
    learn_found(o, LEARN_CRASH, "it ended its process, with exit status %d", WEXITSTATUS(p->status));
  } else if (o->verdict == LEARN_RIGHT && p->left > 0) {
    learn_found(o, LEARN_CRASH, "it left %d process%s running, which %s ended", p->left, p->left == 1 ? "" : "es",
                p->left == 1 ? "was" : "were");
  }
  if (bad && !p->timed_out && p->text[0] != '\0') learn_add(o, "\n  %.*s", (int)strcspn(p->text, "\n"), p->text);
}
