// A portable installation has the program once for each instruction set: `headroom` for any x86-64,
// headroom.x86-64-v3 (AVX2 and FMA) and headroom.x86-64-v4 (AVX-512) beside it. Whole programs, not
// functions: what headers define inline is then compiled for one instruction set in each of them.
#pragma once

namespace headroom {

// From the first of them: goes on as the build that suits this CPU best, or as the one that the
// environment's HEADROOM_ARCH names (x86-64, x86-64-v3, x86-64-v4). Returns where that is this one.
// Throws Error: kUsage for a HEADROOM_ARCH that is no such name or that this CPU cannot run, kFile
// where the build is not there.
void start_best_build(char** argv);

}  // namespace headroom
