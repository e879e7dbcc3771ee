#ifndef GFXSIM_HIP_ELF_BYTES_H
#define GFXSIM_HIP_ELF_BYTES_H
#include <stddef.h>
#include <stdint.h>

/* The length of an ELF file that is given by its address alone: the end of what its headers name; 0: none of ours, or longer
 * than `most`. */
size_t elf_bytes(const uint8_t *image, size_t most);

#endif
