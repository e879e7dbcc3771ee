// Each lane keeps its largest score and the sum of exponentials relative to it; then the lanes combine theirs in pairs.
extern "C" __global__ __launch_bounds__(64) void log_sum_exp(float *out, const half *x, int rows, int columns) {
  float most = -__builtin_inff(), sum = 0;
  for (int j = threadIdx.x; j < columns; j += 64) {
    float score = x[blockIdx.x * columns + j], power = expf(-fabsf(score - most));  // of the smaller of both
    sum = score > most ? sum * power + 1 : sum + power;
    most = fmaxf(most, score);
  }
  for (int mask = 1; mask < 64; mask *= 2) {
    float other = __shfl_xor(most, mask), other_sum = __shfl_xor(sum, mask), larger = fmaxf(most, other);
    if (larger == -__builtin_inff()) continue;  // no column yet: inf - inf is NaN
    sum = sum * expf(most - larger) + other_sum * expf(other - larger);
    most = larger;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = most + logf(sum);
}
