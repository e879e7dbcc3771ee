#include "tested.h"

#include <stdio.h>

#include "sim/test/harness.h"
#include "sim/test/mfma_shape.h"

static const instruction_table *const tables[] = {
#define TABLE_NAME(name) &inst_##name,
#include "sim/isa/test/tables.def"
#undef TABLE_NAME
};

void tested_texts(void (*each)(const char *text)) {
  for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
    for (int n = 0; n < tables[t]->count; n++) each(tables[t]->tests[n].text);
  for (int s = 0; s < shape_count; s++) {
    char name[64];
    snprintf(name, sizeof name, "v_mfma_%s", shapes[s].name);
    each(name);
  }
}
