// C++ with every public header (the test writes the list): descriptions, the types of C, and a run.
#include "all_headers.h"

#include <cstdio>

int main() {
  tdm_context *context = nullptr;
  tdm_plan *plan = nullptr;
  tdm_options options = tdm_options();
  options.device = "host";
  tdm_add_desc desc = tdm_add_default(1, 3, TDM_F32);
  const float a[3] = {1, 2, 3}, b[3] = {2, 3, 4};
  float c[3] = {};
  if (tdm_open(&options, &context) != TDM_OK || tdm_add_plan(context, &desc, &plan) != TDM_OK ||
      tdm_add_run(plan, a, b, c, nullptr) != TDM_OK) {
    std::fprintf(stderr, "headers: %s\n", tdm_last_error());
    return 1;
  }
  std::printf("%.0f %.0f %.0f\n", c[0], c[1], c[2]);
  tdm_plan_free(plan);
  tdm_close(context);
  return 0;
}
