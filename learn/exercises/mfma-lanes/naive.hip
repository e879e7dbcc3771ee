// Right, but on the vector unit.
extern "C" __global__ __launch_bounds__(64) void tiles(float *out, const half *a, const half *b, int count) {
  (void)count;
  int tile = blockIdx.x * 256;
  for (int e = threadIdx.x; e < 256; e += 64) {
    float sum = 0;
    for (int l = 0; l < 16; l++) sum += (float)a[tile + e / 16 * 16 + l] * (float)b[tile + l * 16 + e % 16];
    out[tile + e] = sum;
  }
}
