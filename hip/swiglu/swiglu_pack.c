/* Operands of 16 bits that swiglu_pack copies first (host/pack.h). */
#include "args.h"
#include "swiglu.h"

hip_operand swiglu_operand(const tdm_swiglu_desc *d, int of) {
  static const char *const names[] = {"x", "wg", "wu"};
  const int64_t ld[] = {d->ldx, d->ldg, d->ldu};
  const bool along_k = of == 0 || d->layout == TDM_NT;
  const int64_t lines = of == 0 ? d->m : d->n;
  return (hip_operand){{names[of], along_k ? lines : d->k, along_k ? d->k : lines, ld[of], 0}, 1, along_k};
}

hip_copies swiglu_copies(const tdm_swiglu_desc *d, int packs) {
  return (hip_copies){.of = {swiglu_operand(d, 0), swiglu_operand(d, 1), swiglu_operand(d, 2)},
                      .count = SWIGLU_OPERANDS,
                      .packs = packs,
                      .k = d->k,
                      .type = d->type};
}

int swiglu_packs(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const hip_copies copies = swiglu_copies(d, 0);
  const hip_tile_output output = swiglu_output(d);
  const double tiles = tdm_hip_tiles_of(&output, &kernel->tile);
  double saves[SWIGLU_OPERANDS];
  if (kernel->tile.any_address || d->k == 0) return 0;
  for (int i = 0; i < SWIGLU_OPERANDS; i++)
    saves[i] = tdm_hip_again_clocks(plan, d->type, tdm_hip_loads_again(plan, &copies.of[i], d->type), tiles,
                                    i == 0 ? kernel->tile.m : kernel->tile.n, (double)d->k);
  return tdm_hip_which_to_pack(plan, &copies, saves);
}

double swiglu_loads_again(const tdm_plan *plan, const hip_tile_kernel *kernel, int of) {
  const hip_operand x = swiglu_operand(&plan->desc.swiglu, of);
  return swiglu_packs(plan, kernel) >> of & 1 ? 0 : tdm_hip_loads_again(plan, &x, plan->desc.swiglu.type);
}

double swiglu_pack_clocks(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  const hip_copies copies = swiglu_copies(&plan->desc.swiglu, swiglu_packs(plan, kernel));
  return tdm_hip_pack_clocks(plan, copies.type, (double)tdm_hip_bytes_of_copies(&copies, copies.packs));
}

/* Nothing is copied because of a run's address: such a run falls back. */
size_t swiglu_borrowed_bytes(const tdm_plan *plan, void *const *buffers) {
  (void)plan, (void)buffers;
  return 0;
}

bool swiglu_pack_pointers(const tdm_plan *plan, void *const *buffers, char *borrowed, void *pack_args, void *tile_args) {
  swiglu_pack_args *pack = pack_args;
  const swiglu_args *args = tile_args;
  const hip_copies copies = swiglu_copies(&plan->desc.swiglu, args->packed);
  (void)borrowed;
  for (int i = 0; i < SWIGLU_OPERANDS; i++) {
    pack->of[i].from = buffers[i];
    pack->of[i].to = tdm_hip_copy_at(plan, &copies, i);
  }
  return true;
}

static const hip_functions function = SWIGLU_PACK;
_Static_assert(sizeof(swiglu_pack_args) <= HIP_TILE_FIRST_ARGS, "it fits the plan");

tdm_status swiglu_prepare_pack(tdm_plan *plan, const hip_tile_kernel *kernel) {
  const hip_copies copies = swiglu_copies(&plan->desc.swiglu, swiglu_packs(plan, kernel));
  swiglu_pack_args args = {0};
  if (copies.packs == 0 || plan->empty) return TDM_OK;
  args.workgroups = tdm_hip_fill_copies(plan, &copies, copies.packs, args.of, &args.blocks);
  plan->any_address = plan->copied = (unsigned)copies.packs;
  tdm_hip_add_copies(plan, &copies, args.workgroups, "swiglu_pack");
  return tdm_hip_tile_first(plan, &function, copies.type, args.workgroups, PACK_WORKITEMS, &args, sizeof args);
}
