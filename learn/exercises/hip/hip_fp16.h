/* In place of ROCm's header of this name. */
#include "../hip.h"
