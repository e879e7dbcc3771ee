/* Host side of rows that are split over workgroups: the way to have work for each compute unit if there are few long rows. */
#ifndef TANDEM_HIP_HOST_ROW_PARTS_H
#define TANDEM_HIP_HOST_ROW_PARTS_H

#include "hip/args/row_parts.h"
#include "row_launch.h"

/* The kernels' variants are hip_row_variants. Their functions: the first launch reduces each part, the second one joins the
 * parts, unless the last workgroup of a row does. A SIMD holds HIP_PARTS_WAVES of each at least. */
enum { HIP_PARTS_FIRST, HIP_PARTS_SECOND, HIP_PARTS_WAVES = 6 };

/* For a kernel's `supports`, without parts: chunks of a row are counted in 31 bits (hip/device/row_batches.h). */
bool tdm_hip_loop_fits(const tdm_plan *plan, char *reason, size_t size);
/* With parts: would a row have two parts at least, with no more workgroups than the device holds? And are the elements of a
 * part counted in 31 bits? */
bool tdm_hip_parts_fit(const tdm_plan *plan, char *reason, size_t size);

/* Sets the parts, plan->hip to the first launch, and *second, if it is not NULL, to a launch of as many workgroups. each: bytes
 * of a part's result, for which it sets the size of the workspace. */
tdm_status tdm_hip_parts_prepare(tdm_plan *plan, hip_row_parts *parts, tdm_hip_kernel *second, size_t each);
/* Both launches, with the same argument. */
tdm_status tdm_hip_parts_launch(const tdm_plan *plan, const tdm_hip_kernel *second, const void *args, size_t bytes,
                                tdm_stream *stream);

/* For a kernel's `cost`: estimates of the kernels over rows of any length, without and with parts. */
void tdm_hip_loop_cost(const tdm_plan *plan, tdm_cost *cost);
void tdm_hip_parts_cost(const tdm_plan *plan, tdm_cost *cost);

#endif
