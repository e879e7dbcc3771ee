/* The times as a JSON file: the problems that the estimate sees, and a time for each cut. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuts.h"
#include "files/result.h"

static json_t *pack_matrix(const wg_matrix *m) {
  return json_pack("{s:I,s:I,s:I,s:b,s:b}", "lines", (json_int_t)m->lines, "ld", (json_int_t)m->ld, "stride",
                   (json_int_t)m->stride, "by_k", m->by_k, "broadcast", m->broadcast);
}

static json_t *pack_product(const cuts_product *p) {
  const wg_problem *x = &p->problem;
  json_t *times = json_array();
  for (int i = 0; i < p->times; i++) {
    const wg_choice *c = &p->time[i].cut;
    json_array_append_new(times, json_pack("{s:i,s:i,s:i,s:i,s:b,s:f}", "n", c->n, "groups", c->groups, "splits", c->splits,
                                           "sharers", c->sharers, "swapped", c->swapped, "ns", p->time[i].ns));
  }
  return json_pack("{s:s,s:o,s:o,s:o,s:I,s:I,s:i,s:i,s:i,s:I,s:b,s:i,s:i,s:o}", "title", p->title, "a", pack_matrix(&x->a), "b",
                   pack_matrix(&x->b[0]), "b2", pack_matrix(&x->b[1]), "k", (json_int_t)x->k, "batch", (json_int_t)x->batch,
                   "weights", x->weights, "type", (int)x->type, "out", (int)x->out, "ld_out", (json_int_t)x->ld_out,
                   "short_way", x->short_way, "maps", x->maps, "added", x->added, "times", times);
}

bool cuts_write(const cuts_set *set, const cuts_request *request, char *error, size_t size) {
  result_file f;
  char reason[256];
  json_t *products = json_array();
  for (int i = 0; i < set->count; i++) json_array_append_new(products, pack_product(&set->product[i]));
  json_t *all = json_pack("{s:s,s:I,s:i,s:o}", "device", request->device, "seed", (json_int_t)request->seed, "processors",
                          set->processors, "products", products);
  bool ok = all != NULL && result_open(&f, request->path, reason, sizeof reason);
  if (all == NULL) snprintf(reason, sizeof reason, "no memory");
  if (ok) {
    json_dumpf(all, f.to, JSON_REAL_PRECISION(7));
    ok = result_finish(&f, reason, sizeof reason);
  }
  if (!ok) snprintf(error, size, "--out = '%s': %s", request->path, reason);
  json_decref(all);
  return ok;
}

/* ---- Reading ---- */

static bool read_matrix(json_t *from, wg_matrix *m) {
  json_int_t lines, ld, stride;
  int by_k, broadcast;
  if (json_unpack(from, "{s:I,s:I,s:I,s:b,s:b}", "lines", &lines, "ld", &ld, "stride", &stride, "by_k", &by_k, "broadcast",
                  &broadcast) != 0)
    return false;
  *m = (wg_matrix){lines, ld, stride, by_k != 0, broadcast != 0};
  return lines > 0;
}

static bool read_time(json_t *from, cuts_time *t) {
  int swapped;
  wg_choice *c = &t->cut;
  *t = (cuts_time){.ns = 0};
  if (json_unpack(from, "{s:i,s:i,s:i,s:i,s:b,s:F}", "n", &c->n, "groups", &c->groups, "splits", &c->splits, "sharers",
                  &c->sharers, "swapped", &swapped, "ns", &t->ns) != 0)
    return false;
  c->swapped = swapped != 0;
  return t->ns > 0 && c->n > 0 && c->n <= 256 && c->groups >= 1 && c->groups <= 2 && c->splits >= 1 && c->splits <= 8 &&
         c->sharers >= 1 && c->sharers <= 2;
}

static bool read_product(json_t *from, cuts_product *p) {
  wg_problem *x = &p->problem;
  json_t *a, *b, *b2, *times;
  const char *title;
  json_int_t k, batch, ld_out;
  int type, out, short_way;
  if (json_unpack(from, "{s:s,s:o,s:o,s:o,s:I,s:I,s:i,s:i,s:i,s:I,s:b,s:i,s:i,s:o}", "title", &title, "a", &a, "b", &b, "b2",
                  &b2, "k", &k, "batch", &batch, "weights", &x->weights, "type", &type, "out", &out, "ld_out", &ld_out,
                  "short_way", &short_way, "maps", &x->maps, "added", &x->added, "times", &times) != 0)
    return false;
  snprintf(p->title, sizeof p->title, "%s", title);
  x->k = k, x->batch = batch, x->ld_out = ld_out;
  x->type = (tdm_type)type, x->out = (tdm_type)out, x->short_way = short_way != 0;
  if (!read_matrix(a, &x->a) || !read_matrix(b, &x->b[0]) || k < 1 || batch < 1) return false;
  if (x->weights < 1 || x->weights > 2 || (x->weights == 2 && !read_matrix(b2, &x->b[1]))) return false;
  p->times = (int)json_array_size(times);
  if (p->times < 1 || p->times > CUTS_OF_A_PRODUCT) return false;
  for (int i = 0; i < p->times; i++)
    if (!read_time(json_array_get(times, (size_t)i), &p->time[i])) return false;
  return true;
}

bool cuts_read(cuts_set *set, const char *path, char *error, size_t size) {
  json_error_t fault;
  json_t *all = json_load_file(path, 0, &fault), *products = NULL;
  bool ok = all != NULL;
  *set = (cuts_set){.product = NULL};
  if (!ok) snprintf(error, size, "'%s': %s", path, fault.text);
  if (ok && (json_unpack(all, "{s:i,s:o}", "processors", &set->processors, "products", &products) != 0 || set->processors < 1 ||
             json_array_size(products) == 0)) {
    snprintf(error, size, "'%s': is not a file of tandem-cuts, or has no products", path);
    ok = false;
  }
  if (ok) set->product = calloc(json_array_size(products), sizeof *set->product);
  if (ok && set->product == NULL) {
    snprintf(error, size, "'%s': no memory for its products", path);
    ok = false;
  }
  for (size_t i = 0; ok && i < json_array_size(products); i++) {
    ok = read_product(json_array_get(products, i), &set->product[set->count++]);
    if (!ok) snprintf(error, size, "'%s': product %zu lacks a value, or has one that is not possible", path, i);
  }
  if (!ok) cuts_free(set);
  json_decref(all);
  return ok;
}

void cuts_free(cuts_set *set) {
  free(set->product);
  *set = (cuts_set){.product = NULL};
}
