#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLICE_MS = 20, PIECES = 64 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) { interrupted = number; }

void process_catch_interrupts(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = on_interrupt};
  for (size_t s = 0; s < sizeof signals / sizeof signals[0]; s++) sigaction(signals[s], &action, NULL);
}

bool process_interrupted(void) { return interrupted != 0; }

void *process_share(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The child is a process group of its own, so that whatever it starts can be ended with it. */
static void child(int words, void (*work)(void *), void *argument) {
  struct rlimit none = {0, 0};
  setpgid(0, 0);
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGHUP, SIG_DFL);
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(words, 1) < 0 || dup2(words, 2) < 0) _exit(126);
  close(words);
  work(argument);
  fflush(stdout);
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

/* It is not reaped yet, so that its number stays that of its group. */
static bool has_ended(pid_t pid) {
  siginfo_t info = {0};
  return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

static void watch(pid_t pid, int words, double seconds, process *p) {
  double until = now() + seconds;
  size_t used = 0;
  bool open_end = true, ended = false;
  while (!ended && now() < until && !process_interrupted()) {
    struct pollfd wait = {.fd = open_end ? words : -1, .events = POLLIN};
    poll(&wait, 1, SLICE_MS);
    if (open_end) open_end = take(words, p, &used);
    ended = has_ended(pid);
  }
  p->timed_out = !ended && !process_interrupted();
  kill(-pid, SIGKILL);
  while (waitpid(pid, &p->status, 0) < 0 && errno == EINTR) {}
  take(words, p, &used);
  p->text[used] = '\0';
}

bool process_run(void (*work)(void *argument), void *argument, double seconds, process *p) {
  int words[2];
  *p = (process){.status = -1};
  fflush(NULL); /* else the child would write it a second time */
  if (pipe2(words, O_CLOEXEC) != 0) {
    snprintf(p->text, sizeof p->text, "no pipe: %s", strerror(errno));
    return false;
  }
  fcntl(words[0], F_SETFL, O_NONBLOCK);
  pid_t pid = fork();
  if (pid == 0) child(words[1], work, argument);
  if (pid < 0) snprintf(p->text, sizeof p->text, "no process: %s", strerror(errno));
  close(words[1]);
  if (pid > 0) {
    setpgid(pid, pid); /* also here: whichever comes first */
    watch(pid, words[0], seconds, p);
  }
  close(words[0]);
  return pid > 0;
}

void process_verdict(const process *p, double seconds, learn_outcome *o) {
  bool bad = WIFSIGNALED(p->status) || WEXITSTATUS(p->status) != 0 || !o->finished;
  if (process_interrupted()) {
    learn_found(o, LEARN_FAILED, "interrupted");
  } else if (p->timed_out) {
    learn_found(o, LEARN_ENDLESS, "it ran longer than %g s", seconds);
  } else if (bad && strstr(p->text, "runtime error: ") != NULL) { /* the sanitizer's words */
    learn_found(o, strstr(p->text, "out of bounds") != NULL ? LEARN_BOUNDS : LEARN_CRASH, "undefined behaviour:");
  } else if (WIFSIGNALED(p->status)) {
    learn_found(o, LEARN_CRASH, "it was ended by a signal: %s", strsignal(WTERMSIG(p->status)));
  } else if (bad) {
    learn_found(o, LEARN_CRASH, "it ended its process, with exit status %d", WEXITSTATUS(p->status));
  }
  if (bad && !p->timed_out && p->text[0] != '\0') learn_add(o, "\n  %.*s", (int)strcspn(p->text, "\n"), p->text);
}
