/* Operands of 16 bits that swiglu_pack copies first (host/pack.h). */
#include <stdio.h>

#include "args.h"
#include "swiglu.h"

hip_operand swiglu_operand(const tdm_swiglu_desc *d, int of) {
  static const char *const names[] = {"x", "wg", "wu"};
  const int64_t ld[] = {d->ldx, d->ldg, d->ldu};
  const bool along_k = of == 0 || d->layout == TDM_NT;
  const int64_t lines = of == 0 ? d->m : d->n;
  return (hip_operand){{names[of], along_k ? lines : d->k, along_k ? d->k : lines, ld[of], 0}, 1, along_k};
}

int swiglu_packs(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  hip_operand of[SWIGLU_OPERANDS];
  const hip_tile_output output = swiglu_output(d);
  const double tiles = tdm_hip_tiles_of(&output, &kernel->tile);
  double saves[SWIGLU_OPERANDS];
  if (kernel->tile.any_address || d->k == 0) return 0;
  for (int i = 0; i < SWIGLU_OPERANDS; i++) {
    of[i] = swiglu_operand(d, i);
    saves[i] = tdm_hip_again_clocks(plan, d->type, tdm_hip_loads_again(plan, &of[i], d->type), tiles,
                                    i == 0 ? kernel->tile.m : kernel->tile.n, (double)d->k);
  }
  return tdm_hip_which_to_pack(plan, of, saves, SWIGLU_OPERANDS, d->type);
}

int64_t swiglu_packed_k(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  const int64_t k = plan->desc.swiglu.k;
  return swiglu_packs(plan, kernel) == (1 << SWIGLU_OPERANDS) - 1 ? tdm_hip_whole_rows(k) : k;
}

double swiglu_loads_again(const tdm_plan *plan, const hip_tile_kernel *kernel, int of) {
  const hip_operand x = swiglu_operand(&plan->desc.swiglu, of);
  return swiglu_packs(plan, kernel) >> of & 1 ? 0 : tdm_hip_loads_again(plan, &x, plan->desc.swiglu.type);
}

static int64_t copied_rows(const tdm_plan *plan, const hip_tile_kernel *kernel, const hip_operand *x) {
  return x->along_k ? x->stored.rows : swiglu_packed_k(plan, kernel);
}

static int64_t copy_bytes(const tdm_plan *plan, const hip_tile_kernel *kernel, int of) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const hip_operand x = swiglu_operand(d, of);
  if ((swiglu_packs(plan, kernel) >> of & 1) == 0) return 0;
  return tdm_hip_whole_parts(copied_rows(plan, kernel, &x) * tdm_hip_whole_rows(x.stored.columns) *
                             (int64_t)tdm_type_size(d->type));
}

static int64_t bytes_before(const tdm_plan *plan, const hip_tile_kernel *kernel, int of) {
  int64_t bytes = 0;
  for (int i = 0; i < of; i++) bytes += copy_bytes(plan, kernel, i);
  return bytes;
}

char *swiglu_copy_at(const tdm_plan *plan, const hip_tile_kernel *kernel, int of) {
  const int64_t after = bytes_before(plan, kernel, SWIGLU_OPERANDS) - bytes_before(plan, kernel, of);
  return (char *)plan->workspace + (int64_t)plan->workspace_bytes - after;
}

double swiglu_pack_clocks(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  return tdm_hip_pack_clocks(plan, plan->desc.swiglu.type, (double)bytes_before(plan, kernel, SWIGLU_OPERANDS));
}

/* Nothing is copied because of a run's address: such a run falls back. */
size_t swiglu_borrowed_bytes(const tdm_plan *plan, void *const *buffers) {
  (void)plan, (void)buffers;
  return 0;
}

bool swiglu_pack_pointers(const tdm_plan *plan, void *const *buffers, char *borrowed, void *pack_args, void *tile_args) {
  swiglu_pack_args *pack = pack_args;
  (void)borrowed, (void)tile_args;
  for (int i = 0; i < SWIGLU_OPERANDS; i++) {
    pack->of[i].from = buffers[i];
    pack->of[i].to = swiglu_copy_at(plan, plan->kernel->variant, i);
  }
  return true;
}

static const hip_functions function = SWIGLU_PACK;
_Static_assert(sizeof(swiglu_pack_args) <= HIP_TILE_FIRST_ARGS, "it fits the plan");

tdm_status swiglu_prepare_pack(tdm_plan *plan, const hip_tile_kernel *kernel) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const int packs = swiglu_packs(plan, kernel);
  swiglu_pack_args args = {0};
  bool dwords = false; /* a copied operand has rows of whole dwords */
  char names[32] = "";
  size_t used = 0;
  if (packs == 0 || plan->empty) return TDM_OK;
  for (int i = 0; i < SWIGLU_OPERANDS; i++) {
    if ((packs >> i & 1) == 0) continue;
    const hip_operand x = swiglu_operand(d, i);
    args.of[i] = tdm_hip_packed(&x, copied_rows(plan, kernel, &x));
    args.blocks += args.of[i].blocks;
    dwords |= tdm_hip_dword_rows(&x.stored, d->type);
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used == 0 ? "" : " and ", x.stored.name);
  }
  args.workgroups = tdm_hip_pack_workgroups(plan, args.blocks);
  plan->any_address = plan->copied = (unsigned)packs;
  tdm_hip_add_copies(plan, names, dwords, bytes_before(plan, kernel, SWIGLU_OPERANDS), args.workgroups, "swiglu_pack");
  return tdm_hip_tile_first(plan, &function, d->type, args.workgroups, PACK_WORKITEMS, &args, sizeof args);
}
