/* A linear layer on host memory, y = gelu(x W^T + b): cc minimal.c $(pkg-config --cflags --libs tandem) -o minimal */
#include <stdio.h>
#include <tandem/gemm.h>

int main(void) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, w[2][3] = {{0.5, 0, -0.25}, {0.125, 0.25, 0.125}}, b[2] = {0.5, -0.5}, y[2][2];
  tdm_context *context;
  tdm_plan *plan;
  tdm_gemm_desc linear = tdm_gemm_default(2, 2, 3, TDM_F32); /* m rows, n outputs, k inputs */
  linear.layout = TDM_NT;                                    /* w is [n, k], as a Linear layer stores it */
  linear.epilogue = (tdm_epilogue_step[]){{TDM_BIAS, 0}, {TDM_GELU, 0}};
  linear.epilogue_steps = 2;
  if (tdm_open(&(tdm_options){.device = "host"}, &context) || tdm_gemm_plan(context, &linear, &plan) ||
      tdm_gemm_run(plan, x, w, y, b, NULL, NULL)) {
    fprintf(stderr, "minimal: %s\n", tdm_last_error());
    return 1;
  }
  printf("%.4f %.4f\n%.4f %.4f\n", y[0][0], y[0][1], y[1][0], y[1][1]);
  tdm_plan_free(plan);
  tdm_close(context);
}
