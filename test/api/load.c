/* A program that knows the library only through dlopen, as a plugin or another language does: adds two rows. Twice, because
 * closing the library must leave nothing behind that runs on. */
#include <dlfcn.h>
#include <stdio.h>
#include <tandem/add.h>

typedef struct functions {
  tdm_status (*open)(const tdm_options *, tdm_context **);
  void (*close)(tdm_context *);
  const char *(*last_error)(void);
  tdm_add_desc (*add_default)(int64_t, int64_t, tdm_type);
  tdm_status (*add_plan)(tdm_context *, const tdm_add_desc *, tdm_plan **);
  tdm_status (*add_run)(const tdm_plan *, const void *, const void *, void *, tdm_stream *);
  void (*plan_free)(tdm_plan *);
} functions;

static int find(void *library, const char *name, void *function) {
  *(void **)function = dlsym(library, name);
  if (*(void **)function != NULL) return 1;
  fprintf(stderr, "load: %s\n", dlerror());
  return 0;
}

static int find_all(void *library, functions *f) {
  return find(library, "tdm_open", &f->open) && find(library, "tdm_close", &f->close) &&
         find(library, "tdm_last_error", &f->last_error) && find(library, "tdm_add_default", &f->add_default) &&
         find(library, "tdm_add_plan", &f->add_plan) && find(library, "tdm_add_run", &f->add_run) &&
         find(library, "tdm_plan_free", &f->plan_free);
}

static int add(const functions *f, float c[3]) {
  const float a[3] = {1, 2, 3}, b[3] = {2, 3, 4};
  tdm_context *context = NULL;
  tdm_plan *plan = NULL;
  tdm_add_desc desc = f->add_default(1, 3, TDM_F32);
  int done = f->open(&(tdm_options){.device = "host"}, &context) == TDM_OK && f->add_plan(context, &desc, &plan) == TDM_OK &&
             f->add_run(plan, a, b, c, NULL) == TDM_OK;
  if (!done) fprintf(stderr, "load: %s\n", f->last_error());
  f->plan_free(plan);
  f->close(context);
  return done;
}

int main(int count, char **args) {
  float c[3] = {0};
  if (count != 2) return 2;
  for (int time = 0; time < 2; time++) {
    functions f;
    void *library = dlopen(args[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
      fprintf(stderr, "load: %s\n", dlerror());
      return 1;
    }
    if (!find_all(library, &f) || !add(&f, c)) return 1;
    dlclose(library);
  }
  printf("%.0f %.0f %.0f\n", c[0], c[1], c[2]);
  return 0;
}
