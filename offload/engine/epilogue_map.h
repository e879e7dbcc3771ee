/* What a step of the epilogue makes of one value. If many values are mapped, call it with a constant op, so that the switch
 * disappears from the loop. */
#ifndef TANDEM_OFFLOAD_ENGINE_EPILOGUE_MAP_H
#define TANDEM_OFFLOAD_ENGINE_EPILOGUE_MAP_H

#include "offload/device/math.h"
#include "tandem/gemm.h"

TDM_INLINE float tdm_epilogue_map(float v, tdm_epilogue_op op, float value) {
  switch (op) {
    case TDM_BIAS:
    case TDM_RESIDUAL: break;            /* these add an array */
    case TDM_RELU: return v < 0 ? 0 : v; /* NaN < 0 is false: it stays */
    case TDM_GELU: return 0.5f * v * (1 + tdm_erf(v * 0.70710678f));
    case TDM_GELU_TANH: return 0.5f * v * (1 + tdm_tanh(0.79788456f * (v + 0.044715f * v * v * v)));
    case TDM_QUICK_GELU: return v * tdm_sigmoid(1.702f * v);
    case TDM_LEAKY_RELU: return v < 0 ? value * v : v;
    case TDM_SILU: return tdm_silu(v);
    case TDM_SCALE: return v * value;
    case TDM_DIVIDE: return v / value;
  }
  return v;
}

#endif
