// See isa.hpp.
#if LT_ISA_LEVEL > 0
#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif
#endif
