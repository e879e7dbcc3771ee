/* tandem-run: the command line. */
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "job.h"
#include "output.h"

/* ---- Options ---- */

/* The output that every case of the op has; the others (lse, sum) come with a setting. */
static int find_main_output(const job *j) {
  for (int i = 0; i < j->count; i++)
    if (j->array[i].is.output && j->array[i].is.used) return i;
  return 0;
}

static const char *array_help(const job *j, int i) {
  const case_array *is = &j->array[i].is;
  if (i == j->main_output) return "Input, where the settings make it one; --out names the file of the result";
  if (!is->used) return "Input or further output; left out by default";
  return is->output ? "Further output to write" : "Input to read";
}

/* A row for each array of the op: the contract's --a FILE, --bias FILE, ... */
static void array_rows(job *j, struct poptOption rows[CASE_MAX_ARRAYS + 1]) {
  for (int i = 0; i < j->count; i++)
    rows[i] = (struct poptOption){.longName = j->array[i].is.name,
                                  .argInfo = POPT_ARG_STRING,
                                  .arg = &j->array[i].file,
                                  .descrip = array_help(j, i),
                                  .argDescrip = "FILE.npy"};
  rows[j->count] = (struct poptOption)POPT_TABLEEND;
}

static void print_help(FILE *out, const char *op) {
  fprintf(out,
          "\nThe shape comes from the files. The first line that is printed says what was computed, by\n"
          "which kernel and device, in what time, and where the result is. The time is that of one\n"
          "run, the first; tandem-bench measures.\n");
  help_shapes(out, op);
  help_settings(out, op, true);
  help_devices(out);
  help_exit_status(out);
}

static bool read_options(job *j, int argc, char **argv) {
  struct poptOption arrays[CASE_MAX_ARRAYS + 1], selectors[CASE_OPTION_ROWS], help[HELP_ROWS];
  array_rows(j, arrays);
  case_options_table(&j->options, selectors);
  for (int i = 0; selectors[i].longName != NULL || selectors[i].argInfo == POPT_ARG_CALLBACK; i++)
    if (selectors[i].longName != NULL && strcmp(selectors[i].longName, "seed") == 0)
      selectors[i].argInfo |= POPT_ARGFLAG_DOC_HIDDEN; /* check_options refuses it */
  help_table(help, print_help);
  struct poptOption rows[] = {
      {"out", '\0', POPT_ARG_STRING, &j->out, 0, "The result is written to it", "FILE.npy"},
      {"bf16", '\0', POPT_ARG_NONE, &j->bf16, 0, "uint16 files hold bfloat16 words; default: they are refused", NULL},
      {"explain", '\0', POPT_ARG_NONE, &j->explain, 0, "Also print why each device and kernel was chosen or refused", NULL},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, arrays, 0, "Arrays:", NULL},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, selectors, 0, "Case:", NULL},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, help, 0, "Help:", NULL},
      POPT_TABLEEND,
  };
  char reason[JOB_ERROR_TEXT];
  if (!case_given_once(argc, (const char *const *)argv, reason, sizeof reason)) return job_fail(j, EXIT_USAGE, "%s", reason);
  poptContext popt = poptGetContext("tandem-run", argc, (const char **)argv, rows, 0);
  if (popt == NULL) return job_fail(j, EXIT_FAILED, "no memory for the command line");
  poptSetOtherOptionHelp(popt, "OP --NAME FILE.npy ... --out FILE.npy [OPTION...]");
  int operands = 0;
  const char *op;
  bool ok = case_read_command_line(popt, &op, 1, &operands, reason, sizeof reason) || job_fail(j, EXIT_USAGE, "%s", reason);
  poptFreeContext(popt);
  return ok;
}

static bool check_options(job *j) {
  if (j->options.seed != NULL)
    return job_fail(j, EXIT_USAGE, "--seed = '%s': must not be given: the data is in files", j->options.seed);
  if (j->out == NULL) return job_fail(j, EXIT_USAGE, "--out: must name the file that the result is written to");
  char reason[JOB_ERROR_TEXT];
  return case_options_devices(&j->options, &j->devices, reason, sizeof reason) || job_fail(j, EXIT_USAGE, "%s", reason);
}

/* ---- The case ---- */

static bool knows_setting(const case_op *op, const char *name) {
  size_t length = strlen(name);
  for (const char *at = op->settings; *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
    if (strncmp(at, name, length) == 0 && (at[length] == ' ' || at[length] == '\0')) return true;
  return false;
}

/* --bias FILE without --epilogue means the epilogue "bias"; --residual FILE without --set means residual=1. */
static bool turn_on(job *j, const char *name, char *reason, size_t size) {
  char setting[64];
  snprintf(setting, sizeof setting, "%s=1", name);
  if (j->c.op->has_epilogue && j->options.epilogue == NULL) {
    char steps[64] = "";
    for (int i = 0; i < j->count; i++) {
      const job_array *array = &j->array[i];
      if (array->file != NULL && !array->is.output && (!array->is.used || strcmp(array->is.name, name) == 0))
        snprintf(steps + strlen(steps), sizeof steps - strlen(steps), "%s%s", steps[0] == '\0' ? "" : "+", array->is.name);
    }
    return case_parse_epilogue(&j->c, steps, reason, size);
  }
  return !knows_setting(j->c.op, name) || case_parse_settings(&j->c, setting, reason, size);
}

/* The type comes from the files, what the options say goes over it, and both decide which arrays there are. */
static bool make_case(job *j) {
  char reason[JOB_ERROR_TEXT];
  if (!job_read_files(j)) return false;
  job_choose_type(j);
  j->c.batch = 0; /* not said: the files say it */
  if (!case_options_apply(&j->options, &j->c, reason, sizeof reason)) return job_fail(j, EXIT_USAGE, "%s", reason);
  job_name_arrays(j);
  for (int i = 0; i < j->count; i++) {
    if (j->array[i].file == NULL || j->array[i].is.used) continue;
    if (!turn_on(j, j->array[i].is.name, reason, sizeof reason)) return job_fail(j, EXIT_USAGE, "%s", reason);
    job_name_arrays(j);
  }
  return job_read_files(j);
}

/* A file holds packed arrays, and results get memory of their own. */
static bool check_case(job *j) {
  const tdm_case *c = &j->c;
  bool placed = c->pad != 0 || c->swap || c->shift != 0 || c->in_place != 0 || c->fill_given;
  for (int i = 0; i < CASE_MAX_LEADING; i++) placed = placed || c->ld[i] != 0 || c->stride[i] != 0;
  if (placed)
    return job_fail(j, EXIT_USAGE, "--set = '%s': must not place or fill arrays: they are as the files have them",
                    j->options.settings);
  for (int i = 0; i < j->count; i++) {
    const job_array *array = &j->array[i];
    if (array->is.input && array->file == NULL)
      return job_fail(j, EXIT_USAGE, "--%s: must name the file of this input", array->is.name);
    if (i != j->main_output && array->is.output && array->file != NULL && strcmp(array->file, j->out) == 0)
      return job_fail_file(j, i, "must be another file than --out");
  }
  return true;
}

static bool infer(job *j) {
  if (!job_infer_shape(j) || !job_check_case(j)) return false;
  job_name_arrays(j);
  return true;
}

static bool run_job(job *j, int argc, char **argv) {
  job_name_arrays(j);
  j->main_output = find_main_output(j);
  return read_options(j, argc, argv) && check_options(j) && make_case(j) && check_case(j) && infer(j) && job_fill_arrays(j) &&
         job_launch(j) && job_save(j);
}

/* ---- What is printed ---- */

/* "hip_128x128 on sim:gfx950 (simulated: not timed)" */
static void put_run(const job_run *run, char *text, size_t size) {
  int used = snprintf(text, size, "%s on %s ", run->kernel, run->device);
  double ms = 1e3 * run->seconds;
  if (run->seconds > 0)
    snprintf(text + used, size - (size_t)used, "in %.*f ms", ms < 1 ? 4 : ms < 100 ? 3 : 1, ms);
  else
    snprintf(text + used, size - (size_t)used, "(simulated: not timed)");
}

/* The line that matters comes first: what was computed, by which kernel, where, in what time, and the file that has it. */
static void print_done(const job *j) {
  char printed[1280], label[1280], run[256], files[JOB_ERROR_TEXT];
  case_print(&j->c, printed, sizeof printed);
  case_label(printed, label, sizeof label);
  put_run(&j->run[0], run, sizeof run);
  job_put_files(j, files, sizeof files);
  printf("%s: %s; %s\n", label, run, files);
  for (int device = 1; device < j->devices.count; device++) {
    put_run(&j->run[device], run, sizeof run);
    printf("compared with: %s\n", run);
  }
}

/* Collects notes while the job runs: the result's line is to come before them. */
static bool take_notes(job *j, char **text, size_t *size) {
  j->notes = open_memstream(text, size);
  return j->notes != NULL || job_fail(j, EXIT_FAILED, "no memory for notes");
}

static bool print_notes(job *j, char **text) {
  bool ok = fclose(j->notes) == 0 || job_fail(j, EXIT_FAILED, "no memory for notes");
  ok = ok && j->exit_code == EXIT_PASSED;
  if (ok) fputs(*text, stdout);
  free(*text);
  for (int device = 0; ok && j->explain && device < j->devices.count; device++)
    if (j->run[device].explained != NULL) printf("\n%s", j->run[device].explained);
  return ok;
}

static bool run_and_tell(job *j, int argc, char **argv) {
  char *text = NULL;
  size_t size = 0;
  if (!take_notes(j, &text, &size)) return false;
  bool ok = run_job(j, argc, argv);
  if (ok) print_done(j);
  return print_notes(j, &text) && ok;
}

static void free_job(job *j) {
  for (int i = 0; i < CASE_MAX_DEVICES; i++) free(j->run[i].explained);
  for (int i = 0; i < CASE_MAX_ARRAYS; i++) {
    free(j->array[i].file);
    free(j->array[i].file_bytes);
    free(j->array[i].host);
    free(j->array[i].result);
  }
  free(j->out);
  case_options_free(&j->options);
}

static int print_usage(void) {
  printf(
      "Usage: tandem-run OP --NAME FILE.npy ... --out FILE.npy [--device DEV,...] [OPTION...]\n"
      "Runs one op on NumPy arrays. tandem-run OP --help lists the arrays and options of an op.\n"
      "Example: tandem-run gemm --a a.npy --b b.npy --out c.npy\n");
  print_help(stdout, NULL);
  return EXIT_PASSED;
}

int main(int argc, char **argv) {
  output_begin("tandem-run");
  if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0 || strcmp(argv[1], "--usage") == 0))
    return print_usage();
  const case_op *op = argc > 1 ? case_find_op(argv[1]) : NULL;
  if (op == NULL) {
    fprintf(stderr, "tandem-run: OP = '%s': must be first, one of %s\n", argc > 1 ? argv[1] : "", case_op_list());
    return EXIT_USAGE;
  }
  job j = {.c = case_default(op)};
  if (!run_and_tell(&j, argc, argv)) fprintf(stderr, "tandem-run: %s\n", j.error);
  free_job(&j);
  return j.exit_code;
}
