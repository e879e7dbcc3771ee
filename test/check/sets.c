/* Makes cases out of the tables of sets_data.c: every pair of levels, or every combination. */
#include "sets.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LEVELS = 40 };

/* ---- A case from texts ---- */

static bool apply(tdm_case *c, check_factor_kind kind, const char *text, char *error, size_t size) {
  if (text == NULL || text[0] == '\0') return true;
  switch (kind) {
    case CHECK_DTYPE:
      if (!case_parse_type(&c->type, text, error, size)) return false;
      c->out = c->type;
      return true;
    case CHECK_LAYOUT: return case_parse_layout(&c->layout, text, error, size);
    case CHECK_EPILOGUE: return case_parse_epilogue(c, text, error, size);
    case CHECK_SETTINGS: return case_parse_settings(c, text, error, size);
    case CHECK_SHAPE: return case_parse_shape(c, text, error, size);
  }
  return false;
}

/* ---- All combinations ---- */

typedef struct generator {
  const check_op_set *set;
  const case_op *op;
  check_visit visit;
  void *user;
  uint64_t made;   /* cases so far: the seed of the next one */
  check_kind kind; /* of the cases under way */
  char *error;
  size_t size;
  int levels[CHECK_MAX_FACTORS]; /* how many each factor has */
} generator;

static bool make_case(generator *g, const int *level) {
  tdm_case c = case_default(g->op);
  c.seed = ++g->made;
  for (int f = 0; f < g->set->factors; f++)
    if (!apply(&c, g->set->factor[f].kind, g->set->factor[f].levels[level[f]], g->error, g->size)) return false;
  g->visit(g->user, &c, g->kind);
  return true;
}

static bool make_all(generator *g) {
  int level[CHECK_MAX_FACTORS] = {0};
  for (;;) {
    if (!make_case(g, level)) return false;
    int f = g->set->factors - 1;
    while (f >= 0 && ++level[f] == g->levels[f]) level[f--] = 0;
    if (f < 0) return true;
  }
}

/* ---- Pairs: each case is filled greedily, factor by factor, with the level that meets the most pairs not met yet. ---- */

typedef struct pair_table {
  bool met[CHECK_MAX_FACTORS][CHECK_MAX_FACTORS][MAX_LEVELS][MAX_LEVELS]; /* of factors f < g */
} pair_table;

static bool *met(pair_table *t, int f, int i, int g, int j) { return f < g ? &t->met[f][g][i][j] : &t->met[g][f][j][i]; }

static bool first_unmet(const generator *g, pair_table *t, int *level) {
  for (int e = 0; e < g->set->factors; e++)
    for (int f = e + 1; f < g->set->factors; f++)
      for (int i = 0; i < g->levels[e]; i++)
        for (int j = 0; j < g->levels[f]; j++) {
          if (*met(t, e, i, f, j)) continue;
          level[e] = i;
          level[f] = j;
          return true;
        }
  return false;
}

static int best_level(const generator *g, pair_table *t, const int *level, int factor) {
  int best = -1, best_new = -1, count = g->levels[factor];
  for (int n = 0; n < count; n++) {
    int i = (n + (int)(g->made % (uint64_t)count)) % count, new = 0; /* ties go round, so that no level is favoured */
    for (int f = 0; f < g->set->factors; f++)
      if (f != factor && level[f] >= 0) new += !*met(t, factor, i, f, level[f]);
    if (new > best_new) best = i, best_new = new;
  }
  return best;
}

static bool make_pairs(generator *g) {
  pair_table *t = calloc(1, sizeof *t);
  if (t == NULL) {
    snprintf(g->error, g->size, "no memory for a table of pairs");
    return false;
  }
  bool made = true;
  int level[CHECK_MAX_FACTORS];
  for (;;) {
    for (int f = 0; f < CHECK_MAX_FACTORS; f++) level[f] = -1;
    if (!made || !first_unmet(g, t, level)) break;
    for (int f = 0; f < g->set->factors; f++)
      if (level[f] < 0) level[f] = best_level(g, t, level, f);
    for (int e = 0; e < g->set->factors; e++)
      for (int f = e + 1; f < g->set->factors; f++) *met(t, e, level[e], f, level[f]) = true;
    made = make_case(g, level);
  }
  free(t);
  return made;
}

/* ---- Sets ---- */

static bool from_texts(generator *g, const check_single *s, tdm_case *made_case) {
  tdm_case c = case_default(g->op);
  c.seed = ++g->made;
  bool made = apply(&c, CHECK_DTYPE, s->dtype, g->error, g->size) && apply(&c, CHECK_LAYOUT, s->layout, g->error, g->size) &&
              apply(&c, CHECK_EPILOGUE, s->epilogue, g->error, g->size) &&
              apply(&c, CHECK_SETTINGS, s->settings, g->error, g->size) && apply(&c, CHECK_SHAPE, s->shape, g->error, g->size);
  *made_case = c;
  return made;
}

static bool make_single(generator *g, const check_single *s) {
  tdm_case c;
  bool made = from_texts(g, s, &c);
  if (made) g->visit(g->user, &c, g->kind);
  return made;
}

static bool make_singles(generator *g, const check_single *single) {
  for (; single != NULL && single->shape != NULL; single++)
    if (!make_single(g, single)) return false;
  return true;
}

/* The cases of a table, in addition to the combinations. Their seeds begin at `seed`, so that one more case does not change
 * another table's data. */
static bool make_more(const generator *g, const check_more *more, check_kind kind, uint64_t seed) {
  generator own = *g;
  own.kind = kind;
  own.made = seed;
  while (more->op != NULL && strcmp(more->op, g->op->name) != 0) more++;
  return make_singles(&own, more->single);
}

bool check_set(const case_op *op, check_extent extent, check_visit visit, void *user, char *error, size_t size) {
  generator g = {.op = op, .visit = visit, .user = user, .error = error, .size = size};
  for (int i = 0; check_op_sets[i].op != NULL && g.set == NULL; i++)
    if (strcmp(check_op_sets[i].op, op->name) == 0) g.set = &check_op_sets[i];
  if (g.set == NULL) {
    snprintf(error, size, "%s has no set of cases", op->name);
    return false;
  }
  for (int f = 0; f < g.set->factors; f++)
    while (g.levels[f] < MAX_LEVELS && g.set->factor[f].levels[g.levels[f]] != NULL) g.levels[f]++;
  if (extent == CHECK_KERNEL) return make_more(&g, check_kernel, CHECK_ALWAYS, 40000);
  if (extent == CHECK_HUGE) return make_singles(&g, g.set->huge);
  return make_more(&g, check_always, CHECK_ALWAYS, 10000) && make_more(&g, check_extreme, CHECK_ROTATED, 20000) &&
         make_more(&g, check_streamed, CHECK_STREAMED, 30000) && make_singles(&g, g.set->single) &&
         (extent == CHECK_FULL ? make_all(&g) : make_pairs(&g));
}

/* ---- Cases about memory ---- */

typedef struct named_generator {
  generator g;
  check_visit_named visit;
} named_generator;

static bool make_named(named_generator *n, const char *kernel, const check_single *s) {
  tdm_case c;
  if (!from_texts(&n->g, s, &c)) return false;
  if (!c.fill_given) c.fill = n->g.op->exact != NULL && n->g.op->exact(&c) ? CASE_EXACT : CASE_REAL;
  c.fill_given = true;
  n->visit(n->g.user, kernel, &c);
  return true;
}

/* The index-th word of a list, which goes round. "" of an empty list. */
static const char *word_of(const char *list, int index, char word[8]) {
  int count = list[0] != '\0';
  for (const char *at = list; *at != '\0'; at++) count += *at == ' ';
  for (int i = 0; i < (count > 0 ? index % count : 0); i++) list = strchr(list, ' ') + 1;
  snprintf(word, 8, "%.*s", (int)strcspn(list, " "), list);
  return word;
}

static bool make_length(named_generator *n, const check_loop *l, int steps, int more, int turn) {
  char dtype[8], layout[8], shape[48];
  bool f32 = strcmp(word_of(l->types, turn, dtype), "f32") == 0;
  int step = l->bytes > 0 ? l->bytes / (f32 ? 4 : 2) : l->elements;
  snprintf(shape, sizeof shape, "%.*s%d%s", (int)strcspn(l->shape, "%"), l->shape,
           steps * step + (l->pairs && !f32 ? 2 : 1) * more, strchr(l->shape, '%') + 2);
  return make_named(n, l->kernel, &(check_single){dtype, word_of(l->layouts, turn, layout), "", l->settings, shape});
}

/* Whole steps in every layout, and with one element more and less in one of them. */
static bool make_loop(named_generator *n, const check_loop *l) {
  int layouts = 1, turn = 0;
  for (const char *at = l->layouts; *at != '\0'; at++) layouts += *at == ' ';
  for (int steps = 1; steps <= l->depth; steps = steps == 1 || steps == l->depth ? steps + 1 : l->depth) {
    for (int i = 0; i < layouts; i++)
      if (!make_length(n, l, steps, 0, turn++)) return false;
    if (!make_length(n, l, steps, -1, turn++) || !make_length(n, l, steps, 1, turn++)) return false;
  }
  return true;
}

bool check_memory_set(const case_op *op, bool hip, check_visit_named visit, void *user, char *error, size_t size) {
  named_generator n = {{.op = op, .user = user, .error = error, .size = size}, visit};
  for (const check_named *far = check_far; far->op != NULL; far++) {
    bool of_hip = far->kernel != NULL && strncmp(far->kernel, "hip_", 4) == 0;
    if (strcmp(far->op, op->name) != 0 || (far->kernel != NULL && of_hip != hip)) continue;
    if (!make_named(&n, far->kernel, &far->single)) return false;
  }
  for (const check_loop *l = check_loops; l->op != NULL; l++)
    if (strcmp(l->op, op->name) == 0 && l->hip == hip && !make_loop(&n, l)) return false;
  return true;
}
