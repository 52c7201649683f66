// A program of several builds, of which this is the one for any x86-64.
#include <cstdio>

#include "core/best_build.h"
#include "core/error.h"

int main(int, char** argv) {
  try {
    headroom::start_best_build(argv);
    std::puts("this one");
    return 0;
  } catch (const headroom::Error& error) {
    std::puts(error.what());
    return static_cast<int>(error.code());
  }
}
