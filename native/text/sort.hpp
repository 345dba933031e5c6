// std::sort on several threads: parts are sorted, then merged in pairs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"

namespace longtail {

template <class T, class Less>
void parallel_sort(std::vector<T>& items, int threads, Less less) {
  const auto n = static_cast<int64_t>(items.size());
  int64_t parts = 1;
  while (parts < threads && n / parts > 20000) parts *= 2;
  auto bound = [&](int64_t part) { return items.begin() + n * std::min(part, parts) / parts; };
  parallel_for(parts, threads, [&](int64_t p, int) { std::sort(bound(p), bound(p + 1), less); });
  for (int64_t width = 1; width < parts; width *= 2)
    parallel_for(parts / (2 * width), threads, [&](int64_t p, int) {
      std::inplace_merge(bound(2 * p * width), bound((2 * p + 1) * width), bound((2 * p + 2) * width), less);
    });
}

}  // namespace longtail
