/* Parses the disassembler's text, in the same way for every instruction. */
#ifndef GFXSIM_TEXT_H
#define GFXSIM_TEXT_H
#include "inst.h"

typedef struct text_operand {
  operand o;            /* kind, reg, count, neg, abs, sext, agpr; for a number, value too */
  bool number, decimal; /* decimal: had a point, as inline floats have */
  bool literal;         /* lit(...): no inline constant, though its value may look so */
  const char *at;       /* for messages */
  int length;
} text_operand;

typedef struct text_line {
  char mnemonic[48]; /* without suffix */
  bool sdwa, dpp;
  int count;
  text_operand operand[OPERANDS];
} text_line;

/* Only the mnemonic; returns what follows it, or NULL. */
const char *text_mnemonic(const char *text, text_line *line);
/* Operands into the line, modifiers into the instruction. NULL, or where the text was not understood. */
const char *text_parse(const char *rest, text_line *line, inst *i);

#endif
