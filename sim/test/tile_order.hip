/* src/base/order.h on the device: with the workgroup's id, as kernels use it, and with an id for each lane. */
#include "device_code.h"
#include "src/base/order.h"

KERNEL void by_workgroup(tdm_order order, tdm_tile *tiles) {
  unsigned id = (unsigned)group_x();
  if (lane_x() == 0) tiles[id] = tdm_order_tile(order, id);
}

KERNEL void by_lane(tdm_order order, tdm_tile *tiles) {
  unsigned id = (unsigned)item_x();
  if (id < order.count) tiles[id] = tdm_order_tile(order, id);
}
