// try row-sum: verdict: outside of its memory | writes 4 bytes of LDS at offset 256; the workgroup has 256 bytes
extern "C" __global__ __launch_bounds__(256) void row_sum(float *out, const float *in, int rows, int columns) {
  __shared__ float parts[64];
  volatile float *at = parts;
  at[threadIdx.x] = in[0];
  out[blockIdx.x] = at[0];
}
