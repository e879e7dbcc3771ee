/* The pictures of the guide: each is one function that writes an SVG. */
#ifndef TANDEM_PICTURES_H
#define TANDEM_PICTURES_H

#include <stdbool.h>
#include <stdio.h>

void draw_chip(FILE *out);      /* chip.c: XCDs, CUs, SIMDs, and the memories, with their sizes */
void draw_access(FILE *out);    /* access.c: lines that 64 lanes touch: coalesced, strided, random */
void draw_banks(FILE *out);     /* banks.c: the phases of a ds_read_b128, with and without swizzle */
void draw_lanes_16(FILE *out);  /* lanes.c: which lane holds what of 16x16x32 */
void draw_lanes_32(FILE *out);  /*          and of 32x32x16 */
void draw_ping_pong(FILE *out); /* ping_pong.c: two groups of waves that alternate */
void draw_order(FILE *out);     /* order.c: tiles coloured by XCD, in three orders */
void draw_softmax(FILE *out);   /* softmax.c: the online pass over a row */

/* Pictures of recorded figures. Arguments are FILE, and --name=DEVICE=TEXT for what a device is called. false: one line in
 * error. */
bool draw_roofline(FILE *out, int count, char *const *argument, char *error, size_t size); /* of tandem-bench --json */
bool draw_llama(FILE *out, int count, char *const *argument, char *error, size_t size);    /* of tiny-llama --compare --json */

/* data.c: what the web edition's pictures that move show; false: no such picture. And a table of page 5. */
bool draw_data(FILE *out, const char *name);
void draw_clocks(FILE *out);

#endif
