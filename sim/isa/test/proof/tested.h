/* The texts of all single-instruction tests. */
#ifndef SIM_TEST_TESTED_H
#define SIM_TEST_TESTED_H

/* Calls each(text): one or several lines of assembly. */
void tested_texts(void (*each)(const char *text));

#endif
