/* Address space of the host, and the report of a fault in it. */
#include "region.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t wide_gap = (size_t)1 << 34;

size_t check_page(void) {
  static size_t page;
  if (page == 0) page = (size_t)sysconf(_SC_PAGESIZE);
  return page;
}

bool check_region_open(check_region *r, size_t size, bool sparse) {
  size_t page = check_page(), gap = sparse ? wide_gap : page;
  *r = (check_region){0};
  if (size > SIZE_MAX / 2 - 2 * gap) return false;
  size_t kept = (size + page - 1) / page * page + 2 * gap;
  void *made = mmap(NULL, kept, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return false;
  *r = (check_region){.low = made, .begin = (unsigned char *)made + gap, .size = kept - 2 * gap, .kept = kept};
  return true;
}

bool check_region_fill(const check_region *r, size_t begin, size_t end) {
  size_t page = check_page();
  begin = begin / page * page;
  end = (end + page - 1) / page * page;
  return begin >= end || mprotect(r->begin + begin, end - begin, PROT_READ | PROT_WRITE) == 0;
}

void check_region_close(check_region *r) {
  if (r->low != NULL) munmap(r->low, r->kept);
  *r = (check_region){0};
}

/* ---- AddressSanitizer ---- */

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif

static void report_array(uintptr_t address);

#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>

void check_forbid(const unsigned char *begin, const unsigned char *end) {
  if (begin < end) __asan_poison_memory_region(begin, (size_t)(end - begin));
}
void check_allow(const unsigned char *begin, const unsigned char *end) {
  if (begin < end) __asan_unpoison_memory_region(begin, (size_t)(end - begin));
}
/* The sanitizer calls it before it prints its report, and ends the process after. */
void __asan_on_error(void);
void __asan_on_error(void) { report_array((uintptr_t)__asan_get_report_address()); }
#else
void check_forbid(const unsigned char *begin, const unsigned char *end) { (void)begin, (void)end; }
void check_allow(const unsigned char *begin, const unsigned char *end) { (void)begin, (void)end; }
#endif

/* ---- Crashes: texts are complete before a launch, so that handlers only put them together ---- */

static check_watched watched[REGION_ARRAYS];
static volatile sig_atomic_t watched_count, running;
static char crash_text[1600], fault_begin[64], fault_end[1500];

void check_watch(const check_watched *arrays, int count) {
  watched_count = 0;
  for (int i = 0; i < count && i < REGION_ARRAYS; i++) watched[i] = arrays[i];
  watched_count = count < REGION_ARRAYS ? count : REGION_ARRAYS;
}

void check_crash_command(const char *op, const char *command) {
  running = 0;
  if (command == NULL) return;
  snprintf(crash_text, sizeof crash_text, "\nCRASHED\n  reproduce: %s\n", command);
  snprintf(fault_begin, sizeof fault_begin, "FAULT %s: an access ", op);
  snprintf(fault_end, sizeof fault_end, "; reproduce: %s\n", command);
  running = 1;
}

/* A line that is put together without stdio, which a signal handler may not use. */
typedef struct line {
  char text[2048];
  size_t used;
} line;

static void add_text(line *l, const char *text) {
  while (*text != '\0' && l->used < sizeof l->text) l->text[l->used++] = *text++;
}

static void add_number(line *l, uintptr_t number) {
  char digits[24];
  int at = (int)sizeof digits - 1;
  digits[at] = '\0';
  do digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  add_text(l, digits + at);
}

static bool put_array(const check_watched *a, uintptr_t address) {
  uintptr_t begin = (uintptr_t)a->begin, end = (uintptr_t)a->end;
  if (address < (uintptr_t)a->low || address >= (uintptr_t)a->high) return false;
  line l = {.used = 0};
  add_text(&l, fault_begin);
  add_number(&l, address < begin ? begin - address : address >= end ? address - end : address - begin);
  add_text(&l, address < begin  ? " bytes before array "
               : address >= end ? " bytes after the end of array "
                                : " bytes into array ");
  add_text(&l, a->name);
  if (address >= begin && address < end) add_text(&l, ", in a gap between its rows");
  add_text(&l, fault_end);
  if (write(STDERR_FILENO, l.text, l.used) < 0) _exit(1);
  return true;
}

static bool find_array(uintptr_t address) {
  for (int i = 0; running && i < watched_count; i++)
    if (put_array(&watched[i], address)) return true;
  return false;
}

static void __attribute__((unused)) report_array(uintptr_t address) { find_array(address); }

/* Threads of a kernel fault together: the first one reports, and the others wait for the end. */
static bool is_first(void) {
  static atomic_flag taken = ATOMIC_FLAG_INIT;
  return !atomic_flag_test_and_set(&taken);
}

static void crashed(int number, siginfo_t *info, void *unused) {
  (void)unused;
  while (!is_first()) pause();
  if ((number == SIGSEGV || number == SIGBUS) && find_array((uintptr_t)info->si_addr)) _exit(1);
  if (running && write(STDERR_FILENO, crash_text, strlen(crash_text)) < 0) _exit(1);
  signal(number, SIG_DFL); /* the default action follows, with its core file */
  raise(number);
}

void check_catch_crashes(void) {
  static char stack[64 * 1024]; /* SIGSTKSZ may vary; a handler on the old stack could not report its overflow */
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) sigaction(numbers[i], &action, NULL);
}
