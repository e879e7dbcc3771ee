/* nvlink for clang's offload builds: links the device objects that clang hands over, through libnvJitLink of CUDA 12.9.
 *
 * Why: clang-19 calls an `nvlink` program at the end of every NVIDIA offload build. PyPI carries the linker as a library only,
 * and the nvlink of CUDA 13 makes images that LLVM 19's offload runtime refuses.
 * tools/setup.sh --offload sm_NN builds it beside ptxas: cc -DLIBRARY='"PATH/libnvJitLink.so.12"' nvlink.c -o nvlink -ldl
 * The options are nvlink's own; those that only concern searching and printing (-L, -v) are accepted and have no effect. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INPUT_CUBIN = 1, MAX_OPTIONS = 8 };

typedef void *link_handle;

/* The functions of libnvJitLink that are used, with the signatures of its header nvJitLink.h. */
static struct {
  int (*create)(link_handle *handle, uint32_t count, const char **options);
  int (*add_file)(link_handle handle, int kind, const char *path);
  int (*complete)(link_handle handle);
  int (*image_size)(link_handle handle, size_t *size);
  int (*image)(link_handle handle, void *image);
  int (*error_size)(link_handle handle, size_t *size);
  int (*error)(link_handle handle, char *text);
} nvjit;

static void fail(const char *what, const char *detail) {
  fprintf(stderr, "nvlink: %s: %s\n", what, detail);
  exit(1);
}

static void *function(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) fail(LIBRARY " lacks", name);
  return found;
}

/* ISO C has no conversion from void * to a function pointer; POSIX promises that copying the bits is one. */
static void load_library(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW);
  if (library == NULL) fail("dlopen", dlerror());
  *(void **)&nvjit.create = function(library, "nvJitLinkCreate");
  *(void **)&nvjit.add_file = function(library, "nvJitLinkAddFile");
  *(void **)&nvjit.complete = function(library, "nvJitLinkComplete");
  *(void **)&nvjit.image_size = function(library, "nvJitLinkGetLinkedCubinSize");
  *(void **)&nvjit.image = function(library, "nvJitLinkGetLinkedCubin");
  *(void **)&nvjit.error_size = function(library, "nvJitLinkGetErrorLogSize");
  *(void **)&nvjit.error = function(library, "nvJitLinkGetErrorLog");
}

static void require(int result, link_handle handle, const char *what) {
  if (result == SUCCESS) return;
  size_t size = 0;
  char *text = NULL;
  if (nvjit.error_size(handle, &size) == SUCCESS && size > 0 && (text = malloc(size)) != NULL &&
      nvjit.error(handle, text) == SUCCESS)
    fail(what, text);
  fail(what, "failed without a message");
}

static void write_image(link_handle handle, const char *path) {
  size_t size = 0;
  require(nvjit.image_size(handle, &size), handle, "reading the image's size");
  void *image = malloc(size);
  if (image == NULL) fail(path, "no memory for the image");
  require(nvjit.image(handle, image), handle, "reading the image");
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(image, 1, size, file) != size || fclose(file) != 0) fail(path, "can't be written");
  free(image);
}

int main(int argc, char **argv) {
  const char *out = NULL, *options[MAX_OPTIONS];
  char arch[32] = "";
  int option_count = 0, inputs = 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-o") == 0 && i + 1 < argc) {
      out = argv[++i];
    } else if (strcmp(argv[i], "-arch") == 0 && i + 1 < argc && arch[0] == '\0') {
      snprintf(arch, sizeof arch, "-arch=%s", argv[++i]);
      options[option_count++] = arch;
    } else if (strcmp(argv[i], "-L") == 0 && i + 1 < argc) {
      i++;
    } else if (strcmp(argv[i], "-g") == 0 && option_count < MAX_OPTIONS) {
      options[option_count++] = "-g";
    } else if (argv[i][0] != '-') {
      argv[inputs++] = argv[i]; /* the front of argv keeps the inputs */
    } else if (strncmp(argv[i], "-L", 2) != 0 && strcmp(argv[i], "-v") != 0) {
      fail(argv[i], "unknown option; known: -o FILE, -arch sm_NN, -g, -L DIR, -v");
    }
  }
  if (out == NULL || arch[0] == '\0' || inputs == 0) fail("usage", "nvlink -o FILE -arch sm_NN INPUT.cubin ...");
  load_library();
  link_handle handle = NULL;
  if (nvjit.create(&handle, (uint32_t)option_count, options) != SUCCESS) fail(arch, "libnvJitLink refused it");
  for (int i = 0; i < inputs; i++) require(nvjit.add_file(handle, INPUT_CUBIN, argv[i]), handle, argv[i]);
  require(nvjit.complete(handle), handle, out);
  write_image(handle, out);
  return 0;
}
