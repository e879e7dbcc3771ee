/* HSA calls do not say what the program requires. clang writes it into the table of target regions: an entry of the section
 * omp_offloading_entries with flag 0x10 has the clauses of `omp requires` as its data (LLVM 18 to 19,
 * OffloadEntriesInfoManager and OpenMPOffloadingRequiresDirFlags). */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "hsa_requires.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REGISTER_REQUIRES = 0x10, UNIFIED_SHARED_MEMORY = 0x8 };

typedef struct entry {
  void *address;
  char *name;
  size_t size;
  int32_t flags, data;
} entry;

/* Every length is compared with the file's: it may be any file that the process has loaded. */
static const Elf64_Shdr *find_section(const uint8_t *file, size_t bytes) {
  const Elf64_Ehdr *header = (const void *)file;
  if (bytes < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % 8 != 0 || header->e_shoff > bytes ||
      header->e_shnum > (bytes - header->e_shoff) / sizeof(Elf64_Shdr) || header->e_shstrndx >= header->e_shnum)
    return NULL;
  const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
  const Elf64_Shdr *names = &sections[header->e_shstrndx];
  if (names->sh_offset > bytes || names->sh_size > bytes - names->sh_offset) return NULL;
  static const char wanted[] = "omp_offloading_entries";
  for (int s = 0; s < header->e_shnum; s++)
    if (sections[s].sh_name < names->sh_size && names->sh_size - sections[s].sh_name >= sizeof wanted &&
        memcmp(file + names->sh_offset + sections[s].sh_name, wanted, sizeof wanted) == 0)
      return &sections[s];
  return NULL;
}

static bool file_requires(const uint8_t *file, size_t bytes, uintptr_t load_address) {
  const Elf64_Shdr *section = find_section(file, bytes);
  if (section == NULL || (section->sh_flags & SHF_ALLOC) == 0) return false;
  const entry *rows = (const entry *)(load_address + section->sh_addr); /* in memory, relocated */
  for (size_t n = 0; n < section->sh_size / sizeof *rows; n++)
    if (rows[n].flags == REGISTER_REQUIRES && (rows[n].data & UNIFIED_SHARED_MEMORY) != 0) return true;
  return false;
}

static int look(struct dl_phdr_info *info, size_t size, void *found) {
  (void)size;
  const char *path = info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe";
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat facts;
  if (file < 0) return 0; /* the kernel's own */
  void *bytes = MAP_FAILED;
  if (fstat(file, &facts) == 0 && facts.st_size > 0) bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return 0;
  *(bool *)found = file_requires(bytes, (size_t)facts.st_size, info->dlpi_addr);
  munmap(bytes, (size_t)facts.st_size);
  return *(bool *)found;
}

bool requires_unified_memory(void) {
  bool found = false;
  dl_iterate_phdr(look, &found);
  return found;
}
