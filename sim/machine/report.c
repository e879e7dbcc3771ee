/* Collects what a launch did wrong, and passes it to the caller's callback when the launch ends. */
#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/load/source.h"
#include "wave.h"

enum { REPORTS_DEFAULT = 20, MESSAGE_MOST = 256, SOURCE_MOST = 512 };

const char *gfxsim_kind_name(gfxsim_kind kind) {
  switch (kind) { /* no default: a kind without a name does not compile */
    case GFXSIM_UNIMPLEMENTED_INSTRUCTION: return "not implemented";
    case GFXSIM_BAD_PC: return "bad program counter";
    case GFXSIM_OUT_OF_BOUNDS: return "out of bounds";
    case GFXSIM_AFTER_FREE: return "use after free";
    case GFXSIM_MISALIGNED: return "misaligned";
    case GFXSIM_TRAP: return "trap";
    case GFXSIM_BUDGET: return "budget used up";
    case GFXSIM_UNINITIALISED: return "uninitialised";
    case GFXSIM_RACE_LDS: return "LDS race";
    case GFXSIM_RACE_GLOBAL: return "global memory race";
    case GFXSIM_WAIT: return "missing wait";
    case GFXSIM_BARRIER: return "barrier";
    case GFXSIM_HOST_MEMORY: return "no host memory";
  }
  return "";
}

const char *gfxsim_check_name(gfxsim_check check) {
  switch (check) {
    case GFXSIM_CHECK_ALIGN: return "align";
    case GFXSIM_CHECK_UNINITIALISED: return "uninitialised";
    case GFXSIM_CHECK_RACE: return "race";
    case GFXSIM_CHECK_WAIT: return "wait";
    case GFXSIM_CHECK_BARRIER: return "barrier";
    default: return NULL;
  }
}

/* ---- The list ---- */

typedef struct row {
  gfxsim_kind kind;
  bool fatal;
  u64 pc, other_pc;              /* device addresses */
  const char *text, *other_text; /* of the instructions, owned by the code; "" */
  u32 workgroup[3];
  int wave, lane;
  u64 address, count;
  gfxsim_access_error access_error;
  gfxsim_space space;
  bool writes;
  u32 bytes;
  char message[MESSAGE_MOST];
} row;

struct report_list {
  const gfxsim_kernel *kernel;
  pthread_mutex_t lock;
  row *rows;
  size_t count, capacity;
  u64 lost; /* rows for which the host had no memory */
};

report_list *reports_make(const gfxsim_kernel *kernel) {
  report_list *list = calloc(1, sizeof *list);
  if (list == NULL) return NULL;
  list->kernel = kernel;
  pthread_mutex_init(&list->lock, NULL);
  return list;
}

static bool grow(report_list *list) {
  if (list->count < list->capacity) return true;
  size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
  row *rows = realloc(list->rows, capacity * sizeof *rows);
  if (rows == NULL) return false;
  list->rows = rows;
  list->capacity = capacity;
  return true;
}

/* Counts what is known already; the row to fill, or NULL. */
static row *find_row(report_list *list, gfxsim_kind kind, u64 pc) {
  for (size_t n = 0; n < list->count; n++)
    if (list->rows[n].kind == kind && list->rows[n].pc == pc) {
      list->rows[n].count++;
      return NULL;
    }
  if (!grow(list)) {
    list->lost++;
    return NULL;
  }
  return &list->rows[list->count++];
}

static void add(wave *w, const row *found, const char *format, va_list args) {
  report_list *list = w->group->launch->reports;
  row *made = find_row(list, found->kind, found->pc);
  if (made == NULL) return;
  *made = *found;
  made->count = 1;
  made->wave = w->index;
  memcpy(made->workgroup, w->group->id, sizeof made->workgroup);
  vsnprintf(made->message, sizeof made->message, format, args);
}

register_name operand_name(const wave *w, const operand *o) {
  register_name name;
  u32 first = o->reg - (o->agpr ? w->group->launch->kernel->desc.accum_offset : 0u);
  char file = o->kind == OPERAND_SGPR ? 's' : o->agpr ? 'a' : 'v';
  if (o->kind == OPERAND_SGPR && o->reg == S_M0)
    strcpy(name.text, "m0");
  else if (o->kind == OPERAND_SGPR && o->reg == S_VCC)
    strcpy(name.text, "vcc");
  else if (o->count > 1)
    snprintf(name.text, sizeof name.text, "%c[%u:%u]", file, first & 1023, (first + o->count - 1) & 1023);
  else
    snprintf(name.text, sizeof name.text, "%c%u", file, first & 1023);
  return name;
}

static void fault(wave *w, const inst *i, gfxsim_kind kind, const bad_access *at, const char *format, va_list args) {
  launch *run = w->group->launch;
  w->state = WAVE_FAULT;
  pthread_mutex_lock(&run->reports->lock);
  if (!atomic_exchange(&run->stop, true))
    add(w,
        &(row){.kind = kind,
               .fatal = true,
               .pc = i != NULL ? i->pc : w->pc,
               .text = i != NULL ? i->text : "",
               .other_text = "",
               .lane = at->lane,
               .address = at->address,
               .access_error = at->error,
               .space = at->space,
               .writes = at->write,
               .bytes = at->bytes},
        format, args);
  pthread_mutex_unlock(&run->reports->lock);
}

void wave_fault(wave *w, const inst *i, gfxsim_kind kind, int lane, u64 address, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fault(w, i, kind, &(bad_access){.lane = lane, .address = address}, format, args);
  va_end(args);
}

static gfxsim_kind kind_of(gfxsim_access_error error) {
  if (error == GFXSIM_ACCESS_FREED) return GFXSIM_AFTER_FREE;
  return error == GFXSIM_ACCESS_MISALIGNED ? GFXSIM_MISALIGNED : GFXSIM_OUT_OF_BOUNDS;
}

void wave_fault_access(wave *w, const inst *i, const bad_access *at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fault(w, i, kind_of(at->error), at, format, args);
  va_end(args);
}

void wave_report(wave *w, const inst *i, const inst *other, gfxsim_kind kind, int lane, u64 address, const char *format, ...) {
  launch *run = w->group->launch;
  va_list args;
  va_start(args, format);
  pthread_mutex_lock(&run->reports->lock);
  add(w,
      &(row){.kind = kind,
             .pc = i->pc,
             .text = i->text,
             .other_pc = other != NULL ? other->pc : 0,
             .other_text = other != NULL ? other->text : "",
             .lane = lane,
             .address = address},
      format, args);
  pthread_mutex_unlock(&run->reports->lock);
  va_end(args);
}

/* ---- The end of a launch ---- */

static u64 file_pc(const gfxsim_kernel *k, u64 pc) { return pc - k->object->image->base; }

typedef struct sources {
  char here[SOURCE_MOST], other[SOURCE_MOST];
} sources;

/* The texts of sources live as long as s. */
static gfxsim_report describe(const gfxsim_kernel *k, const row *r, sources *s) {
  s->other[0] = '\0';
  source_line(k->object, file_pc(k, r->pc), s->here, sizeof s->here);
  if (r->other_pc != 0) source_line(k->object, file_pc(k, r->other_pc), s->other, sizeof s->other);
  gfxsim_report report = {.kind = r->kind,
                          .kernel = k->name,
                          .instruction = r->text,
                          .source = s->here,
                          .message = r->message,
                          .pc = file_pc(k, r->pc),
                          .other_instruction = r->other_text,
                          .other_source = s->other,
                          .other_pc = r->other_pc != 0 ? file_pc(k, r->other_pc) : 0,
                          .wave = r->wave,
                          .lane = r->lane,
                          .address = r->address != NO_ADDRESS ? r->address : 0,
                          .has_address = r->address != NO_ADDRESS,
                          .count = r->count,
                          .function = functions_find(k->object->functions, r->pc),
                          .other_function = functions_find(k->object->functions, r->other_pc),
                          .fatal = r->fatal,
                          .access_error = r->access_error,
                          .space = r->space,
                          .writes = r->writes,
                          .bytes = r->bytes};
  memcpy(report.workgroup, r->workgroup, sizeof report.workgroup);
  return report;
}

static void tell(const gfxsim_kernel *k, const row *r) {
  const gfxsim_options *options = &k->object->device->options;
  sources s;
  gfxsim_report report = describe(k, r, &s);
  options->report(&report, options->user);
}

/* Takes the rows out that the caller does not want to count. */
static void suppress(report_list *list) {
  const gfxsim_options *options = &list->kernel->object->device->options;
  size_t kept = 0;
  for (size_t n = 0; n < list->count; n++) {
    sources s;
    gfxsim_report report = describe(list->kernel, &list->rows[n], &s);
    if (list->rows[n].fatal || !options->suppress(&report, options->user)) list->rows[kept++] = list->rows[n];
  }
  list->count = kept;
}

/* What ended the launch, or else what was found first. */
static const row *chief(const report_list *list) {
  for (size_t n = 0; n < list->count; n++)
    if (list->rows[n].fatal) return &list->rows[n];
  return &list->rows[0];
}

static gfxsim_status status_of(const report_list *list, u64 hidden) {
  if (list->count == 0) return list->lost == 0 ? GFXSIM_OK : fail(GFXSIM_NO_MEMORY, "run: no memory for reports");
  const row *r = chief(list);
  char source[SOURCE_MOST], more[96] = "";
  source_line(list->kernel->object, file_pc(list->kernel, r->pc), source, sizeof source);
  if (list->count + list->lost > 1)
    snprintf(more, sizeof more, "; %" PRIu64 " other findings, %" PRIu64 " of them not shown", list->count + list->lost - 1,
             hidden);
  gfxsim_status status = GFXSIM_FAULT;
  if (r->kind == GFXSIM_UNIMPLEMENTED_INSTRUCTION) status = GFXSIM_UNIMPLEMENTED;
  if (r->kind == GFXSIM_HOST_MEMORY) status = GFXSIM_NO_MEMORY;
  return fail(status, "kernel %s, pc 0x%" PRIx64 "%s%s, %s: %s: %s%s", list->kernel->name, file_pc(list->kernel, r->pc),
              source[0] != '\0' ? ", " : "", source, r->text, gfxsim_kind_name(r->kind), r->message, more);
}

gfxsim_status reports_end(report_list *list) {
  const gfxsim_options *options = &list->kernel->object->device->options;
  if (options->suppress != NULL) suppress(list);
  u64 most = options->reports > 0 ? options->reports : REPORTS_DEFAULT, shown = 0;
  for (size_t n = 0; n < list->count && options->report != NULL; n++)
    if (!list->rows[n].fatal && shown < most) {
      tell(list->kernel, &list->rows[n]);
      shown++;
    }
  if (list->count > 0 && chief(list)->fatal && options->report != NULL) {
    tell(list->kernel, chief(list));
    shown++;
  }
  gfxsim_status status = status_of(list, list->count + list->lost - shown);
  pthread_mutex_destroy(&list->lock);
  free(list->rows);
  free(list);
  return status;
}
