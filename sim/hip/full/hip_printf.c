/* Sources: ROCm's device libraries, ockl/src/services.cl and printf.cl (what kernels write); LLVM's AMDGPUEmitPrintf (the
 * entries of -mprintf-kind=buffered). */
#include "hip_printf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  const uint64_t *at, *end;
} reader;

static uint64_t take(reader *r) { return r->at < r->end ? *r->at++ : 0; }

/* A text that ends within the data; "" where it does not. */
static const char *take_text(reader *r) {
  const char *text = (const char *)r->at;
  size_t room = (size_t)(r->end - r->at) * 8, length = room > 0 ? strnlen(text, room) : 0;
  if (length == room) {
    r->at = r->end;
    return "";
  }
  r->at += length / 8 + 1;
  return text;
}

/* ---- One conversion: %[flags][width][.precision][length]letter ---- */

enum { SPEC_MOST = 64 };
typedef struct spec {
  char text[SPEC_MOST]; /* with its numbers, without its length */
  size_t used;
  int bytes; /* of an integer */
  char letter;
} spec;

static void put(spec *s, const char *text, size_t length) {
  if (s->used + length + 4 > SPEC_MOST) return; /* room for "ll", the letter and the end */
  memcpy(s->text + s->used, text, length);
  s->used += length;
}

static const char *read_spec(const char *at, reader *r, spec *s) {
  *s = (spec){.bytes = 4};
  put(s, "%", 1);
  for (at++; *at != '\0' && strchr("-+ #0123456789.*hljztqL", *at) != NULL; at++) {
    char number[16];
    if (*at == '*')
      put(s, number, (size_t)snprintf(number, sizeof number, "%d", (int)(int64_t)take(r)));
    else if (*at == 'h')
      s->bytes /= 2;
    else if (strchr("ljztqL", *at) != NULL)
      s->bytes = 8;
    else
      put(s, at, 1);
  }
  s->letter = *at;
  return *at != '\0' ? at + 1 : at;
}

static void end_spec(spec *s, const char *length) {
  snprintf(s->text + s->used, sizeof s->text - s->used, "%s%c", length, s->letter);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the kernel's format, whose conversions are checked one by one */
static int print_spec(FILE *file, spec *s, reader *r) {
  uint64_t bits;
  double real;
  switch (s->letter) {
    case 'd':
    case 'i':
      bits = take(r);
      end_spec(s, "ll");
      return fprintf(file, s->text,
                     s->bytes == 8   ? (long long)bits
                     : s->bytes == 4 ? (long long)(int32_t)bits
                     : s->bytes == 2 ? (long long)(int16_t)bits
                                     : (long long)(int8_t)bits);
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      bits = take(r);
      end_spec(s, "ll");
      return fprintf(file, s->text, (unsigned long long)(s->bytes == 8 ? bits : bits & ((UINT64_C(1) << 8 * s->bytes) - 1)));
    case 'c': end_spec(s, ""); return fprintf(file, s->text, (int)take(r));
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      bits = take(r);
      memcpy(&real, &bits, sizeof real);
      end_spec(s, "");
      return fprintf(file, s->text, real);
    case 's': end_spec(s, ""); return fprintf(file, s->text, take_text(r));
    case 'p': end_spec(s, ""); return fprintf(file, s->text, (void *)(uintptr_t)take(r));
    case '%': return fprintf(file, "%%");
    case 'n': take(r); return 0;
    default: return fprintf(file, "%%"); /* not a conversion: as it stands */
  }
}
#pragma GCC diagnostic pop

int printf_message(FILE *file, const uint64_t *data, size_t count) {
  reader r = {data, data + count};
  const char *at = take_text(&r);
  int total = 0;
  while (*at != '\0') {
    size_t plain = strcspn(at, "%");
    int wrote = fprintf(file, "%.*s", (int)plain, at);
    at += plain;
    if (*at == '%' && wrote >= 0) {
      spec s;
      total += wrote;
      at = read_spec(at, &r, &s);
      wrote = print_spec(file, &s, &r);
    }
    if (wrote < 0) return wrote;
    total += wrote;
  }
  return total;
}

/* ---- -mprintf-kind=buffered ---- */

/* The format whose hash is given: the rest of "0:0:HASH,FORMAT"; NULL. */
static const char *find_format(uint64_t hash, const char *(*format_at)(const void *of, int index), const void *of) {
  const char *row;
  for (int n = 0; (row = format_at(of, n)) != NULL; n++) {
    const char *digits = strchr(row, ':'), *comma;
    digits = digits != NULL ? strchr(digits + 1, ':') : NULL;
    comma = digits != NULL ? strchr(digits, ',') : NULL;
    if (comma != NULL && strtoull(digits + 1, NULL, 16) == hash) return comma + 1;
  }
  return NULL;
}

static void print_entry(const uint8_t *at, size_t bytes, bool stderr_too, bool constant,
                        const char *(*format_at)(const void *of, int index), const void *of) {
  uint64_t hash = 0;
  const char *format = NULL;
  if (constant && bytes >= 8) {
    memcpy(&hash, at, sizeof hash);
    format = find_format(hash, format_at, of);
    at += 8;
    bytes -= 8;
  }
  if (constant && format == NULL) return; /* another code object's: nothing can be said */
  size_t text = format != NULL ? (strlen(format) / 8 + 1) * 8 : 0;
  uint64_t *data = calloc(1, text + bytes + 8);
  if (data == NULL) return;
  if (format != NULL) strcpy((char *)data, format);
  memcpy((uint8_t *)data + text, at, bytes);
  printf_message(stderr_too ? stderr : stdout, data, (text + bytes) / 8);
  free(data);
}

/* An entry: its length in bytes << 2, with 2 for a format that is named by its hash and 1 for stderr; what follows. */
void printf_buffer(const uint8_t *buffer, size_t bytes, const char *(*format_at)(const void *of, int index), const void *of) {
  uint32_t used;
  memcpy(&used, buffer, sizeof used);
  if (used > bytes - 8) used = (uint32_t)(bytes - 8);
  const uint8_t *at = buffer + 8;
  while (used >= 4) {
    uint32_t control;
    memcpy(&control, at, sizeof control);
    uint32_t length = control >> 2;
    if (length < 4 || length > used) break;
    print_entry(at + 4, length - 4, (control & 1) != 0, (control & 2) != 0, format_at, of);
    at += length;
    used -= length;
  }
}
