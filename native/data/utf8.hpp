// Whether bytes are well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
#pragma once

#include <cstddef>

namespace longtail {

/// The first byte that is not part of a well-formed character, or `end`.
const char* find_bad_utf8(const char* p, const char* end);

}  // namespace longtail
