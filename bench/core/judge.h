/* Which ceilings a case is judged by, and what happens to a figure above them.
 *
 * A clock that changes, or other work, makes a ceiling too low. So a figure above one has that ceiling measured again, right
 * after the case, up to BENCH_JUDGE_TRIES times. The largest measurement counts for all cases, those before it too. Nothing
 * lowers a ceiling, and nothing changes a time. What is still above is an alarm. */
#ifndef TANDEM_BENCH_CORE_JUDGE_H
#define TANDEM_BENCH_CORE_JUDGE_H

#include "bench/core/row.h"

enum { BENCH_JUDGE_TRIES = 5, BENCH_FOOTPRINTS = 64 };

/* Measures parts (bench_part) of the ceilings of `machine`. bytes: of each of the copy's two arrays. */
typedef tdm_status (*bench_measure_ceiling)(void *machine, int parts, size_t bytes, bench_ceiling *ceiling);

typedef struct bench_judge {
  bench_measure_ceiling measure;
  void *machine;
  size_t bytes; /* of each of the copy's two arrays */
  /* On a host whose caches stay warm, arrays move at the rate of the cache that holds them. Each case is judged by a copy and a
   * read of the largest power of two that is no larger than its arrays: measured when the first case of that size is. */
  bool by_footprint;
  size_t least; /* bytes of the smallest copy, both arrays */
  bool alarms;  /* false: a figure above a ceiling is none */
  bool raised;  /* ceilings that had been printed have risen */
  bench_ceiling ceiling;
  bench_ceiling at[BENCH_FOOTPRINTS]; /* copy and read of 2^i bytes; copy 0: not measured yet */
} bench_judge;

/* Measures the ceilings that all cases share. */
tdm_status bench_judge_open(bench_judge *j);
/* Sets the row's ceiling and alarm. A failure to measure is reported by the status; the row then has what is known. */
tdm_status bench_judge_row(bench_judge *j, bench_row *row);
/* The same by what is known now, without a measurement: for rows that were judged before. */
void bench_judge_again(const bench_judge *j, bench_row *row);
/* Copy and read of 2^i bytes: no slower than those of more. */
bench_ceiling bench_judge_at(const bench_judge *j, int i);
/* The size by which a row is judged, as a power of two; -1: the ceilings of all cases. */
int bench_judge_footprint(const bench_judge *j, const bench_row *row);

#endif
