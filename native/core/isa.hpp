// Which instruction set a kernel runs on.
//
// A file named *.isa.cpp is compiled once per level with LT_ISA_LEVEL = 0 (portable), 1 (AVX2) or 2 (AVX-512). It must
//   1. include every standard and project header first,
//   2. then include "core/isa_begin.hpp", write its kernels inside `namespace LT_ISA { ... }`,
//   3. and end with "core/isa_end.hpp".
// The begin/end headers switch the target with a pragma, so templates of the standard library are never compiled for a
// machine that may not have the instructions (whole-file flags would leak them through shared inline functions).
#pragma once

#include <stdexcept>

namespace longtail {

/// A wrong value of LONGTAIL_ISA; Python sees a longtail.errors.ParameterError.
struct IsaError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

enum class Isa : int { portable = 0, avx2 = 1, avx512 = 2 };

/// The best level that this machine has and that LONGTAIL_ISA (portable | avx2 | avx512) allows. Read at every call, so
/// that tests can change the variable inside one process. Throws IsaError on an unknown name.
Isa active_isa();
/// The best level of this machine, whatever LONGTAIL_ISA says.
Isa machine_isa();
const char* isa_name(Isa isa);

}  // namespace longtail

#if defined(__x86_64__) || defined(_M_X64)
#define LT_X86 1
/// Calls `function` of the active level: LT_DISPATCH(dot, a, b, n) → longtail::avx2::dot(a, b, n).
#define LT_DISPATCH(function, ...)                                                  \
  (::longtail::active_isa() == ::longtail::Isa::avx512 ? avx512::function(__VA_ARGS__) \
   : ::longtail::active_isa() == ::longtail::Isa::avx2 ? avx2::function(__VA_ARGS__)   \
                                                       : portable::function(__VA_ARGS__))
/// Declares one function in the namespaces of all levels.
#define LT_DECLARE(...)                   \
  namespace portable { __VA_ARGS__; }     \
  namespace avx2 { __VA_ARGS__; }         \
  namespace avx512 { __VA_ARGS__; }
#else
#define LT_X86 0
#define LT_DISPATCH(function, ...) (portable::function(__VA_ARGS__))
#define LT_DECLARE(...) \
  namespace portable { __VA_ARGS__; }
#endif
