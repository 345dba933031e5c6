// See isa.hpp. No include guard: included once by each *.isa.cpp, after all other headers.
#ifndef LT_ISA_LEVEL
#error "a *.isa.cpp file is compiled with LT_ISA_LEVEL"
#endif
#if LT_ISA_LEVEL == 2
#define LT_ISA avx512
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c,popcnt,bmi,bmi2,lzcnt"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c,popcnt,bmi,bmi2,lzcnt,prefer-vector-width=512")
#endif
#elif LT_ISA_LEVEL == 1
#define LT_ISA avx2
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c,popcnt,bmi,bmi2,lzcnt"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC target("avx2,f16c,popcnt,bmi,bmi2,lzcnt")
#endif
#else
#define LT_ISA portable
#endif
