// What simd16.hpp needs, to be included before core/isa_begin.hpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/half.hpp"
#include "core/isa.hpp"

#if LT_X86
#include <immintrin.h>
#endif
