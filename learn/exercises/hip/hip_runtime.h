/* In place of ROCm's header of this name, so that a file with `#include <hip/hip_runtime.h>` compiles here and with hipcc. */
#include "../hip.h"
