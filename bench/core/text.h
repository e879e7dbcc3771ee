/* The length of texts about a case. */
#ifndef TANDEM_BENCH_CORE_TEXT_H
#define TANDEM_BENCH_CORE_TEXT_H

/* Enough for a case as case_print writes it, with every setting and 32 steps of an epilogue. */
enum { BENCH_TEXT = 1280 };

#endif
