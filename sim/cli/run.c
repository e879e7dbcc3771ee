/* gfxsim run|profile|time FILE.hsaco --kernel NAME --grid X,Y,Z --block X,Y,Z --arg ... */
#include <inttypes.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "profile.h"
#include "sim/time/trace.h"
#include "time.h"
#include "timeline.h"

/* profile and time count, and leave the checks that can be left to run. */
typedef enum action { ACTION_RUN, ACTION_PROFILE, ACTION_TIME } action;
static const char *const action_titles[] = {"gfxsim run", "gfxsim profile", "gfxsim time"};
static const char *const action_names[] = {"run", "profile", "time"};

typedef struct request {
  action action;
  bool counts;
  char *trace, *trace_cus, *timeline, *timeline_clocks, *model;
  int skip_mfma, warm, parameters, by_time, rounds, spread;
  char *file, *kernel, *grid, *block, *chip, *no_check, *workgroups, *json;
  int lds, threads, stack, reports, turn;
  long long budget, seed;
  uint32_t groups[3], items[3]; /* of --grid and --block */
  int loose_bounds, no_preload, save_partial;
  char *check;
  bool fatal;   /* a finding ended the launch */
  bool refused; /* because of the command line, before the launch */
  uint32_t unchecked;
  char *args[ARGS_MOST];
  int arg_count;
  arguments made;
} request;

static bool refuse(request *r) {
  r->refused = true;
  return false;
}

/* What the library refused; it names its own functions, of which a user of the command line knows nothing. */
static bool complain_library(const request *r) {
  const char *text = gfxsim_last_error();
  const char *const beginnings[] = {"run: ", "open: "};
  for (size_t n = 0; n < sizeof beginnings / sizeof beginnings[0]; n++)
    if (strncmp(text, beginnings[n], strlen(beginnings[n])) == 0)
      return complain("%s: %s", action_names[r->action], text + strlen(beginnings[n]));
  return complain("%s", text);
}

static void print_place(const char *before, uint64_t pc, const char *instruction, const char *source) {
  fprintf(stderr, "  %s pc 0x%" PRIx64 ": %s\n", before, pc, instruction);
  if (source[0] != '\0') fprintf(stderr, "    at %s\n", source);
}

static void print_report(const gfxsim_report *r, void *user) {
  request *asked = user;
  asked->fatal = asked->fatal || r->fatal;
  fprintf(stderr, "%s: %s\n  kernel %s\n", gfxsim_kind_name(r->kind), r->message, r->kernel);
  print_place("instruction", r->pc, r->instruction, r->source);
  if (r->other_instruction[0] != '\0') print_place("other access", r->other_pc, r->other_instruction, r->other_source);
  fprintf(stderr, "  workgroup %u,%u,%u, wave %d", r->workgroup[0], r->workgroup[1], r->workgroup[2], r->wave);
  if (r->lane >= 0) fprintf(stderr, ", lane %d", r->lane);
  if (r->has_address) fprintf(stderr, ", address 0x%" PRIx64, r->address);
  if (r->count > 1) fprintf(stderr, "; %" PRIu64 " times", r->count);
  fputc('\n', stderr);
  if (r->kind == GFXSIM_OUT_OF_BOUNDS && r->space == GFXSIM_SPACE_LDS)
    fprintf(stderr, "  --lds BYTES adds dynamic LDS to the kernel's own; this run has --lds %d\n", asked->lds);
}

bool checks_parse(const char *text, uint32_t *checks) {
  if (text != NULL && strcmp(text, "all") == 0) *checks = GFXSIM_CHECK_ALL;
  if (text == NULL || *checks != 0) return true;
  for (const char *at = text;; at++) {
    size_t length = strcspn(at, ",");
    uint32_t bit = 1;
    while (bit <= GFXSIM_CHECK_ALL &&
           (strncmp(gfxsim_check_name(bit), at, length) != 0 || gfxsim_check_name(bit)[length] != '\0'))
      bit <<= 1;
    if (bit > GFXSIM_CHECK_ALL)
      return complain(
          "--no-check %s: must be all, or names of align, uninitialised, race, wait and barrier with commas between", text);
    *checks |= bit;
    at += length;
    if (*at == '\0') return true;
  }
}

static bool parse_three(const char *option, const char *text, uint32_t three[3]) {
  const char *at = text;
  three[0] = three[1] = three[2] = 1;
  for (int d = 0; d < 3; d++) {
    char *end;
    unsigned long long value = strtoull(at, &end, 10);
    if (*at < '0' || *at > '9' || value > UINT32_MAX || (*end != ',' && *end != '\0')) break;
    three[d] = (uint32_t)value;
    if (*end == '\0') return true;
    at = end + 1;
  }
  return complain("--%s %s: must be one to three numbers with commas between", option, text);
}

static bool check_signs(const request *r) {
  const struct {
    const char *option;
    long long value;
  } numbers[] = {{"lds", r->lds},   {"stack", r->stack}, {"budget", r->budget}, {"reports", r->reports},
                 {"turn", r->turn}, {"seed", r->seed},   {"rounds", r->rounds}, {"threads", r->threads}};
  for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
    if (numbers[n].value < 0)
      return complain("%s: --%s %lld: must not be negative", action_names[r->action], numbers[n].option, numbers[n].value);
  return true;
}

static bool parse_options(int argc, const char **argv, request *r) {
  char *arg = NULL;
  struct poptOption rows[] = {
      {"kernel", '\0', POPT_ARG_STRING, &r->kernel, 0, "The kernel to run (default: the file's only kernel)", "NAME"},
      {"grid", '\0', POPT_ARG_STRING, &r->grid, 0, "Workgroups in each dimension (default of Y and Z: 1)", "X[,Y[,Z]]"},
      {"block", '\0', POPT_ARG_STRING, &r->block, 0, "Work-items of a workgroup (default of Y and Z: 1)", "X[,Y[,Z]]"},
      {"arg", '\0', POPT_ARG_STRING, &arg, 'a',
       "The value of an argument: a number, in:FILE.npy, out:FILE.npy:TYPE:SHAPE, inout:FILE.npy:FILE.npy or zeros:BYTES. Give "
       "one --arg for each argument, in order; or name arguments by NAME= or by their OFFSET=, and the others are 0",
       "[NAME=|OFFSET=]VALUE"},
      {"lds", '\0', POPT_ARG_INT, &r->lds, 0, "Dynamic LDS, beside the kernel's own (default 0)", "BYTES"},
      {"chip", '\0', POPT_ARG_STRING, &r->chip, 0,
       "The file's chip with some of its numbers changed, as in gfx950,lds_bytes=65536 (default: as it is)", "CHIP"},
      {"threads", '\0', POPT_ARG_INT, &r->threads, 0, "Host threads (default: all processors)", "N"},
      {"turn", '\0', POPT_ARG_INT, &r->turn, 0, "Instructions that a wave runs before the next wave goes on (default 16)", "N"},
      {"seed", '\0', POPT_ARG_LONGLONG, &r->seed, 0,
       "Vary the order in which waves run: another order for each number (default 0: always the same order)", "S"},
      {"budget", '\0', POPT_ARG_LONGLONG, &r->budget, 0,
       "Basic blocks that a wave may run before gfxsim calls it endless (default 2^32)", "N"},
      {"stack", '\0', POPT_ARG_INT, &r->stack, 0, "Scratch of a lane for a stack of unknown size (default 16384)", "BYTES"},
      {"loose-bounds", '\0', POPT_ARG_NONE, &r->loose_bounds, 0, "Accept accesses up to the end of an allocation's last page",
       NULL},
      {"no-check", '\0', POPT_ARG_STRING, &r->no_check, 0,
       r->counts ? "Checks to switch off: all, or names of align,uninitialised,race,wait,barrier. Bounds are always checked "
                   "(default all)"
                 : "Checks to switch off: all, or names of align,uninitialised,race,wait,barrier. Bounds are always checked "
                   "(default: none)",
       "LIST"},
      {"check", '\0', POPT_ARG_STRING, &r->check, 0,
       "Checks to switch on: barrier, that every wave reaches each barrier. Hardware does not require this (default: none)",
       "LIST"},
      {"save-partial", '\0', POPT_ARG_NONE, &r->save_partial, 0, "Save the outputs even if a finding ended the launch", NULL},
      {"reports", '\0', POPT_ARG_INT, &r->reports, 0, "Findings to print (default 20)", "N"},
      {"no-preload", '\0', POPT_ARG_NONE, &r->no_preload, 0, "Behave like firmware that can't preload kernel arguments", NULL},
      {"workgroups", '\0', POPT_ARG_STRING, &r->workgroups, 0,
       "Run only some workgroups: how many, or ranges of their numbers as in 0-7,100-107 (default: all)", "N|RANGES"},
      {"json", '\0', POPT_ARG_STRING, &r->json, 0,
       "profile, time: write the counters or the prediction to a JSON file (default: print them as text)", "FILE"},
      {"by-time", '\0', POPT_ARG_NONE, &r->by_time, 0,
       "run: the waves of all workgroups run in the order of the model's time, as they do under time, and not in turns", NULL},
      {"skip-mfma", '\0', POPT_ARG_NONE, &r->skip_mfma, 0,
       "time: matrix instructions compute nothing, so that it is faster; their results are wrong, and no output is saved",
       NULL},
      {"rounds", '\0', POPT_ARG_INT, &r->rounds, 0,
       "time: run only so many rounds of workgroups, each as many as the chip holds at once, and take later rounds for equal "
       "to the "
       "last one (default: run all)",
       "N"},
      {"spread", '\0', POPT_ARG_NONE, &r->spread, 0,
       "time: the workgroups of --rounds are drawn from the whole grid, for launches whose workgroups do unequal work", NULL},
      {"warm", '\0', POPT_ARG_NONE, &r->warm, 0,
       "time: the memory-side cache has what the launch reads first, as far as it has room (default: all caches are empty)",
       NULL},
      {"model", '\0', POPT_ARG_STRING, &r->model, 0,
       "time: fitted numbers of the model (--parameters) in place of its own, as in hbm_latency=1260,launch=4800; sim/ahead.sh "
       "moves each of them",
       "NAME=VALUE,..."},
      {"trace", '\0', POPT_ARG_STRING, &r->trace, 0, "time: write a trace for Perfetto or chrome://tracing", "FILE"},
      {"trace-cus", '\0', POPT_ARG_STRING, &r->trace_cus, 0,
       "time: the CUs of the trace, by XCD * CUs of an XCD + CU, as in 0-3,32 (default 0)", "RANGES"},
      {"timeline", '\0', POPT_ARG_STRING, &r->timeline, 0, "time: draw the waves of a workgroup of the first of these CUs",
       "FILE.svg"},
      {"timeline-clocks", '\0', POPT_ARG_STRING, &r->timeline_clocks, 0,
       "time: the clocks of the picture (default: two turns of the hot loop)", "FROM-TO"},
      {"parameters", '\0', POPT_ARG_NONE, &r->parameters, 0, "time: print the numbers of the model with their sources", NULL},
      POPT_AUTOHELP POPT_TABLEEND};
  poptContext context = poptGetContext(action_titles[r->action], argc, argv, rows, 0);
  poptSetOtherOptionHelp(context, "FILE.hsaco --kernel NAME --grid X --block X --arg VALUE ...");
  int got;
  bool good = true;
  while (good && (got = poptGetNextOpt(context)) != -1) {
    if (got == 'a' && r->arg_count < ARGS_MOST)
      r->args[r->arg_count++] = arg;
    else
      good = got == 'a' ? complain("%s: too many", poptBadOption(context, 0))
                        : complain_option(argc, argv, poptBadOption(context, 0), got);
  }
  const char *file = poptGetArg(context), *name = action_names[r->action];
  bool timed = r->skip_mfma || r->warm || r->parameters || r->trace != NULL || r->trace_cus != NULL || r->rounds != 0 ||
               r->spread || r->model != NULL || r->timeline != NULL || r->timeline_clocks != NULL;
  if (good && timed && r->action != ACTION_TIME)
    good = complain(
        "%s: --skip-mfma, --warm, --rounds, --spread, --model, --trace, --trace-cus, --timeline, --timeline-clocks and "
        "--parameters: only time has them",
        name);
  if (good && r->parameters) {
    poptFreeContext(context);
    return true;
  }
  if (good && (file == NULL || poptPeekArg(context) != NULL)) good = complain("%s: FILE: must be one code object", name);
  if (good && (r->grid == NULL || r->block == NULL)) good = complain("%s: --grid and --block must be given", name);
  if (good) good = check_signs(r) && parse_three("grid", r->grid, r->groups) && parse_three("block", r->block, r->items);
  if (good && r->rounds > 0 && r->workgroups != NULL) good = complain("time: --rounds: not with --workgroups");
  if (good && r->spread && r->rounds == 0) good = complain("time: --spread: needs --rounds N");
  if (good && r->by_time && (r->action != ACTION_RUN || r->turn > 0 || r->seed > 0))
    good = complain("%s: --by-time: only run has it, and not with --turn or --seed", name);
  if (good && r->json != NULL && !r->counts) good = complain("run: --json %s: only profile and time count", r->json);
  if (good && r->timeline_clocks != NULL && r->timeline == NULL)
    good = complain("time: --timeline-clocks %s: needs --timeline FILE.svg", r->timeline_clocks);
  if (good && r->trace_cus != NULL && r->trace == NULL && r->timeline == NULL)
    good = complain("time: --trace-cus %s: needs --trace FILE", r->trace_cus);
  if (good && r->counts && r->no_check == NULL) r->unchecked = GFXSIM_CHECK_ALL;
  if (good) good = checks_parse(r->no_check, &r->unchecked);
  if (good && r->check != NULL && strcmp(r->check, "barrier") != 0)
    good = complain("%s: --check %s: must be barrier", name, r->check);
  if (good) r->file = strdup(file);
  poptFreeContext(context);
  return good;
}

/* ---- The kernel ---- */

enum { NAMES_MOST = 60 };

/* Those whose names hold what was asked for come first. */
static bool refuse_kernel(request *r, gfxsim_object *object) {
  int count = gfxsim_kernel_count(object), shown = 0;
  if (count == 0) return complain("%s: the file has no kernels", r->file);
  if (r->kernel == NULL)
    complain("%s: the file has %d kernels: --kernel must name one of", r->file, count);
  else
    complain("--kernel %s: %s has %d kernels, but not this one:", r->kernel, r->file, count);
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < count && shown < NAMES_MOST; k++) {
      gfxsim_kernel_info info;
      gfxsim_kernel_describe(gfxsim_kernel_at(object, k), &info);
      bool alike = r->kernel != NULL && strstr(info.name, r->kernel) != NULL;
      if (alike != (pass == 0)) continue;
      fprintf(stderr, "  %s\n", info.name);
      shown++;
    }
  if (shown < count) fprintf(stderr, "  and %d more: gfxsim info %s lists all\n", count - shown, r->file);
  return refuse(r);
}

static bool find_kernel(request *r, gfxsim_object *object, gfxsim_kernel **kernel) {
  if (r->kernel == NULL && gfxsim_kernel_count(object) == 1) {
    *kernel = gfxsim_kernel_at(object, 0);
    return true;
  }
  return (r->kernel != NULL && gfxsim_kernel_find(object, r->kernel, kernel) == GFXSIM_OK) || refuse_kernel(r, object);
}

/* Findings that did not end the launch leave outputs that may be wrong, but are worth a look. */
static bool save_outputs(const request *r, gfxsim_device *device, bool ran, bool ended) {
  int outputs = arguments_outputs(&r->made);
  if (outputs == 0 || ran) return arguments_save(device, &r->made);
  if (!ended && !r->save_partial)
    return complain("outputs not saved: %d; the launch did not end (--save-partial saves what was written so far)", outputs);
  complain("outputs saved: %d; %s", outputs,
           ended ? "the findings above may have made them wrong" : "they are not complete: the launch did not end");
  return arguments_save(device, &r->made);
}

/* ---- What is told while a launch is predicted ---- */

typedef struct listener {
  trace trace;
  timeline timeline;
  const char *traced; /* the trace's file */
  bool refused;       /* by one of them, which has printed why */
} listener;

static bool refuse_trace(const listener *l) { return complain("time: --trace %s: %s", l->traced, l->trace.error); }

static bool listen(const gfxsim_time_event *e, void *user) {
  listener *l = user;
  l->refused = l->refused || (l->trace.open && !trace_event(&l->trace, e) && !refuse_trace(l)) ||
               (l->timeline.open && !timeline_event(&l->timeline, e));
  return !l->refused;
}

static bool listener_open(const request *r, listener *l, gfxsim_timing *timing) {
  if (r->trace == NULL && r->timeline == NULL) return true;
  timing->trace_cus = r->trace_cus != NULL ? r->trace_cus : "0";
  timing->event = listen;
  timing->user = l;
  l->traced = r->trace;
  if (r->trace != NULL && !trace_open(&l->trace, r->trace)) return refuse_trace(l);
  if (r->timeline == NULL || timeline_open(&l->timeline, r->timeline, r->timeline_clocks)) return true;
  trace_close(&l->trace, false);
  return false;
}

static bool listener_close(listener *l, const gfxsim_timing *timing, bool ran) {
  bool traced = trace_close(&l->trace, ran) || refuse_trace(l), drawn = timeline_close(&l->timeline, ran ? timing : NULL);
  return traced && drawn;
}

/* ---- A launch ---- */

static bool show(const request *r, const gfxsim_kernel_info *info, const gfxsim_counters *counters,
                 const gfxsim_timing *timing) {
  if (r->action == ACTION_PROFILE) return profile_show(info, counters, r->json);
  gfxsim_kernel_info shown = *info;
  if (r->no_preload) shown.preload_dwords = 0;
  return r->action == ACTION_RUN || (timing->clocks > 0 && time_show(&shown, counters, timing, r->json));
}

static bool run_kernel(request *r, gfxsim_device *device, gfxsim_kernel *kernel) {
  gfxsim_kernel_info info;
  gfxsim_kernel_describe(kernel, &info);
  gfxsim_counters counters = {0};
  gfxsim_timing timing = {.skip_matrix = r->skip_mfma != 0,
                          .warm = r->warm != 0,
                          .rounds = (uint32_t)r->rounds,
                          .spread = r->spread != 0,
                          .model = r->model};
  listener listener = {0};
  gfxsim_launch launch = {.dynamic_lds = (uint32_t)r->lds,
                          .workgroups = r->workgroups,
                          .counters = r->counts || r->by_time ? &counters : NULL,
                          .timing = r->action == ACTION_TIME || r->by_time ? &timing : NULL};
  memcpy(launch.grid, r->groups, sizeof launch.grid);
  memcpy(launch.block, r->items, sizeof launch.block);
  if (!arguments_make(device, &info, (const char *const *)r->args, r->arg_count, &r->made)) return refuse(r);
  launch.args = r->made.bytes;
  launch.arg_bytes = r->made.size;
  if (!listener_open(r, &listener, &timing)) return refuse(r);
  gfxsim_status status = gfxsim_run(kernel, &launch);
  bool ran = status == GFXSIM_OK;
  if (!ran && !listener.refused) complain_library(r);
  r->refused = status == GFXSIM_INVALID && !listener.refused;
  bool ended = ran || (status == GFXSIM_FAULT && !r->fatal);
  bool good = listener_close(&listener, &timing, ran) && ended && show(r, &info, &counters, &timing);
  gfxsim_counters_release(&counters);
  gfxsim_timing_release(&timing);
  int outputs = arguments_outputs(&r->made);
  bool partial = r->skip_mfma || timing.extrapolated > 0;
  if (partial && outputs > 0)
    complain("outputs not saved: %d; --skip-mfma and --rounds leave wrong or incomplete results", outputs);
  return (partial || save_outputs(r, device, ran, ended)) && ran && good;
}

static bool run_file(request *r, const void *data, size_t bytes) {
  gfxsim_options options = {.threads = r->threads,
                            .budget = (uint64_t)r->budget,
                            .stack_bytes = (uint32_t)r->stack,
                            .loose_bounds = r->loose_bounds != 0,
                            .unchecked = r->unchecked,
                            .reports = (uint32_t)r->reports,
                            .no_preload = r->no_preload != 0,
                            .turn = (uint32_t)r->turn,
                            .seed = (uint64_t)r->seed,
                            .checked = r->check != NULL ? GFXSIM_CHECK_BARRIER : 0,
                            .report = print_report,
                            .user = r};
  const char *own = gfxsim_object_chip(data, bytes), *chip = r->chip != NULL ? r->chip : own;
  gfxsim_device *device = NULL;
  gfxsim_object *object;
  gfxsim_kernel *kernel;
  if (chip == NULL) return complain("%s: %s", r->file, gfxsim_last_error());
  gfxsim_status status = gfxsim_open(chip, &options, &device);
  if (status != GFXSIM_OK) {
    r->refused = status == GFXSIM_INVALID;
    return complain_library(r);
  }
  bool good = gfxsim_load(device, data, bytes, &object) == GFXSIM_OK;
  if (good) {
    good = find_kernel(r, object, &kernel) && run_kernel(r, device, kernel);
  } else {
    complain("%s: %s", r->file, gfxsim_last_error());
    r->refused = own != NULL && strncmp(own, chip, strcspn(chip, ",")) != 0; /* --chip names another one */
  }
  gfxsim_close(device);
  return good;
}

/* popt gives copies of what it parsed. */
static void request_free(request *r) {
  char *const texts[] = {r->file,       r->kernel, r->grid,  r->block,     r->chip,     r->no_check,        r->check,
                         r->workgroups, r->json,   r->trace, r->trace_cus, r->timeline, r->timeline_clocks, r->model};
  for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) free(texts[t]);
  for (int a = 0; a < r->arg_count; a++) free(r->args[a]);
  arguments_free(&r->made);
}

static int launch_command(int argc, const char **argv, action action) {
  request r = {.action = action, .counts = action != ACTION_RUN};
  void *data = NULL;
  size_t bytes;
  char error[256];
  int result = EXIT_USAGE;
  bool good = parse_options(argc, argv, &r);
  if (good && r.parameters) {
    time_show_parameters();
    result = EXIT_OK;
  } else if (good) {
    if (!npy_read_file(r.file, &data, &bytes, error, sizeof error))
      complain("%s: FILE = %s: %s", action_names[action], r.file, error);
    else
      result = run_file(&r, data, bytes) ? EXIT_OK : r.refused ? EXIT_USAGE : EXIT_FAILED;
  }
  free(data);
  request_free(&r);
  return result;
}

int run_command(int argc, const char **argv) { return launch_command(argc, argv, ACTION_RUN); }
int profile_command(int argc, const char **argv) { return launch_command(argc, argv, ACTION_PROFILE); }
int time_command(int argc, const char **argv) { return launch_command(argc, argv, ACTION_TIME); }
