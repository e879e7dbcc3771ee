// try wide-loads: verdict: not everything was written | c[1020] was never written | only the tail: elements 1020 .. 1022 of 1023, after the last multiple of 4
extern "C" __global__ __launch_bounds__(256) void add(float *c, const float *a, const float *b, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 4 <= n)
    *(float4 *)(c + i) = *(const float4 *)(a + i) + *(const float4 *)(b + i);
  else if (n < 4)
    for (; i < n; i++) c[i] = a[i] + b[i];
}
