/* embedding as a case: y[t, :] = table[ids[t], :]. */
#include "tandem/embedding.h"
#include "op.h"

enum { TABLE, IDS, Y };

/* The number of ids, which may be more than the table's. */
static int64_t ids_of(const tdm_case *c) { return c->total == 0 ? c->shape[1] : c->total; }

static bool is_valid(const tdm_case *c, int64_t id) { return id >= 0 && id < ids_of(c); }

/* The row of the table, -1: it has none for this id. */
static int64_t row_of(const tdm_case *c, int64_t id) {
  return id >= c->first && id < c->first + c->shape[1] ? id - c->first : -1;
}

static int arrays(const tdm_case *c, case_array a[CASE_MAX_ARRAYS]) {
  int64_t tokens = c->shape[0], vocab = c->shape[1], d = c->shape[2];
  a[TABLE] = case_input(case_matrix("table", c->type, vocab, d, case_leading(c, 0, d)));
  a[IDS] = case_input(case_vector("ids", c->wide ? CASE_I64 : CASE_I32, tokens));
  a[IDS].index_limit = ids_of(c);
  a[Y] = case_output(case_matrix("y", c->type, tokens, d, case_leading(c, 1, d)));
  return 3;
}

static tdm_status plan(tdm_context *context, const tdm_case *c, tdm_plan **out) {
  tdm_embedding_desc d = tdm_embedding_default(c->shape[0], c->shape[1], c->shape[2], c->type);
  d.ldt = case_leading(c, 0, c->shape[2]);
  d.ldy = case_leading(c, 1, c->shape[2]);
  d.first = c->first, d.total = c->total;
  d.ids = c->wide ? TDM_I64 : TDM_I32;
  return tdm_embedding_plan(context, &d, out);
}

static tdm_status run(const tdm_plan *p, void *const x[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return tdm_embedding_run(p, x[TABLE], x[IDS], x[Y], stream);
}

/* A copy has no error. An id that is out of range gives a row of NaN, one of another part a row of 0. */
static void reference(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                      int64_t row, double *value, double *bound) {
  int64_t id = (int64_t)case_get(inputs[IDS], row, arrays[IDS].element), at = row_of(c, id);
  double absent = is_valid(c, id) ? 0 : (double)NAN;
  for (int64_t i = 0; i < case_row_length(&arrays[output]); i++) {
    value[i] = at >= 0 ? case_get(inputs[TABLE], case_row_offset(&arrays[TABLE], at) + i, arrays[TABLE].element) : absent;
    bound[i] = 0;
  }
}

/* A table of one row, and token 0. A token that is out of range, or of another part, has the excerpt of no table at all. */
static void excerpt(const tdm_case *c, int64_t row, int columns, case_element_of_input *input, const void *data, tdm_case *one,
                    case_gather from[CASE_MAX_ARRAYS]) {
  int64_t id = (int64_t)input(data, IDS, row), at = row_of(c, id);
  case_array a[CASE_MAX_ARRAYS];
  arrays(c, a);
  case_whole_row(c, row, columns, input, data, one, from);
  one->shape[1] = at >= 0 ? 1 : 0;
  one->first = 0, one->total = is_valid(c, id) ? 1 : 0;
  from[TABLE].base = at >= 0 ? case_row_offset(&a[TABLE], at) : 0;
  from[IDS] = (case_gather){.zero = true};
}

static bool exact(const tdm_case *c) {
  (void)c;
  return true;
}

static double flops(const tdm_case *c) {
  (void)c;
  return 0;
}

/* Reads one row of the table for each token, not the whole table. */
static double bytes(const tdm_case *c) {
  return (double)c->shape[0] * (2 * (double)c->shape[2] * (double)tdm_type_size(c->type) + (c->wide ? 8 : 4));
}

const case_op case_embedding = {.name = "embedding",
                                .shape_form = "TOKENSxVOCABxD",
                                .what = "TOKENS rows of a table [VOCAB,D]",
                                .shape_rank = 3,
                                .settings = "first total wide",
                                .leading = "ldt ldy",
                                .exact = exact,
                                .arrays = arrays,
                                .plan = plan,
                                .run = run,
                                .reference = reference,
                                .excerpt = excerpt,
                                .flops = flops,
                                .bytes = bytes};
