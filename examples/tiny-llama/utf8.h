/* UTF-8, byte by byte. */
#ifndef LLAMA_UTF8_H
#define LLAMA_UTF8_H

#include <stddef.h>

/* What the text of size >= 1 bytes begins with: a character of 1 to 4 bytes: their number; bytes that can't begin one: minus
 * the number of those that one U+FFFD stands for (Unicode 15, table 3-7 and "maximal subparts"); 0: a character that goes on
 * after the text. */
static inline int utf8_check(const char *text, size_t size) {
  const unsigned char *s = (const unsigned char *)text, lead = s[0];
  int length = lead < 0x80 ? 1 : lead >= 0xc2 && lead <= 0xdf ? 2 : (lead & 0xf0) == 0xe0 ? 3 : (lead & 0xfc) == 0xf0 ? 4 : 0;
  unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80, high = lead == 0xed ? 0x9f : 0xbf;
  if (lead == 0xf4) length = 4, high = 0x8f;
  if (length == 0) return -1;
  for (int i = 1; i < length; i++, low = 0x80, high = 0xbf) {
    if ((size_t)i == size) return 0;
    if (s[i] < low || s[i] > high) return -i;
  }
  return length;
}

#endif
