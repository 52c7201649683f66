// <immintrin.h>, where there is one.
#pragma once

#if defined(__SSE__)
#include <immintrin.h>
#endif
