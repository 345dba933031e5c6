#include "core/isa.hpp"

#include <cstdlib>
#include <string>

#if LT_X86 && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace longtail {

namespace {

Isa detect() {
#if LT_X86 && (defined(__GNUC__) || defined(__clang__))
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("popcnt");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? Isa::avx512 : avx2 ? Isa::avx2 : Isa::portable;
#elif LT_X86 && defined(_MSC_VER)
  int info[4];
  __cpuid(info, 1);
  const bool os_saves = (info[2] & (1 << 27)) != 0;
  if (!os_saves) return Isa::portable;
  const unsigned long long saved = _xgetbv(0);
  __cpuidex(info, 7, 0);
  const bool avx2 = (saved & 0x6) == 0x6 && (info[1] & (1 << 5)) && (info[1] & (1 << 8));
  const bool avx512 = avx2 && (saved & 0xe6) == 0xe6 && (info[1] & (1 << 16)) && (info[1] & (1 << 30)) &&
                      (info[1] & (1 << 17)) && (info[1] & (1u << 31));
  return avx512 ? Isa::avx512 : avx2 ? Isa::avx2 : Isa::portable;
#else
  return Isa::portable;
#endif
}

}  // namespace

Isa machine_isa() {
  static const Isa level = detect();
  return level;
}

Isa active_isa() {
  const Isa machine = machine_isa();
  const char* wanted = std::getenv("LONGTAIL_ISA");
  if (wanted == nullptr || *wanted == '\0') return machine;
  const std::string name(wanted);
  Isa asked;
  if (name == "portable") asked = Isa::portable;
  else if (name == "avx2") asked = Isa::avx2;
  else if (name == "avx512") asked = Isa::avx512;
  else
    throw IsaError("LONGTAIL_ISA must be one of portable, avx2, avx512. Got '" + name + "' instead.");
  // A wish for more than the machine has gives what the machine has.
  return static_cast<int>(asked) < static_cast<int>(machine) ? asked : machine;
}

const char* isa_name(Isa isa) {
  return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "portable";
}

}  // namespace longtail
