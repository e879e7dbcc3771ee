// try row-sum: verdict: outside of its memory | LDS write of 4 bytes: the workgroup has 256
extern "C" __global__ __launch_bounds__(256) void row_sum(float *out, const float *in, int rows, int columns) {
  __shared__ float parts[64];
  volatile float *at = parts;
  at[threadIdx.x] = in[0];
  out[blockIdx.x] = at[0];
}
