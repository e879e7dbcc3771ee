#include "elf_bytes.h"

#include <elf.h>
#include <string.h>

size_t elf_bytes(const uint8_t *image, size_t most) {
  Elf64_Ehdr header;
  if (most < sizeof header) return 0;
  memcpy(&header, image, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > most ||
      header.e_shnum > (most - header.e_shoff) / sizeof(Elf64_Shdr))
    return 0;
  size_t end = header.e_shoff + (size_t)header.e_shnum * sizeof(Elf64_Shdr);
  for (unsigned s = 0; s < header.e_shnum; s++) {
    Elf64_Shdr section;
    memcpy(&section, image + header.e_shoff + s * sizeof section, sizeof section);
    if (section.sh_type == SHT_NOBITS) continue;
    if (section.sh_offset > most || section.sh_size > most - section.sh_offset) return 0;
    if (section.sh_offset + section.sh_size > end) end = section.sh_offset + section.sh_size;
  }
  return end;
}
