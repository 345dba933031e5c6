#include "data/block.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace longtail {

const char* const kRepairNames[kRepairs] = {
    "rows with unsorted features", "duplicate features summed",     "duplicate labels merged", "labels of value zero dropped",
    "lines ending in CR LF",       "blank lines skipped",           "query ids ignored",       "unpaired surrogates replaced",
    "unknown labels dropped",      "rows without a label field",
};

std::vector<const char*> cut_at_lines(const char* begin, const char* end, int64_t n) {
  std::vector<const char*> cuts{begin};
  const int64_t bytes = end - begin;
  for (int64_t i = 1; i < n; ++i) {
    const char* near = std::max(begin + bytes / n * i, cuts.back());
    const void* line_end = near < end ? std::memchr(near, '\n', static_cast<size_t>(end - near)) : nullptr;
    if (line_end == nullptr) break;
    const char* cut = static_cast<const char*>(line_end) + 1;
    if (cut > cuts.back() && cut < end) cuts.push_back(cut);
  }
  cuts.push_back(end);
  return cuts;
}

int64_t parts_for(int64_t bytes, int threads) {
  if (threads <= 1) return 1;
  return std::max<int64_t>(1, std::min<int64_t>(bytes / (64 << 10), static_cast<int64_t>(threads) * 4));
}

bool tidy_features(Part& part, size_t row_begin, int64_t line) {
  const size_t n = part.x.ids.size() - row_begin;
  int32_t* ids = part.x.ids.data() + row_begin;
  float* values = part.x.values.data() + row_begin;
  std::vector<std::pair<int32_t, float>> entries(n);
  bool rises = true;
  for (size_t i = 0; i < n; ++i) {
    entries[i] = {ids[i], values[i]};
    rises = rises && (i == 0 || ids[i - 1] <= ids[i]);
  }
  if (!rises) {
    part.repairs.note(kUnsortedFeatures, line);
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  size_t kept = 0;
  for (size_t i = 0; i < n;) {
    const int32_t id = entries[i].first;
    double sum = 0.0;
    size_t times = 0;
    for (; i < n && entries[i].first == id; ++i, ++times) sum += static_cast<double>(entries[i].second);
    const float value = static_cast<float>(sum);
    if (!std::isfinite(value)) return part.fail(line, "the values of feature " + std::to_string(id) + " sum to more than a float32 holds");
    part.repairs.note(kDuplicateFeatures, line, static_cast<int64_t>(times) - 1);
    ids[kept] = id;
    values[kept++] = value;
  }
  part.x.ids.resize_down(row_begin + kept);
  part.x.values.resize_down(row_begin + kept);
  return true;
}

void tidy_labels(SparseRows& y, size_t row_begin, RepairCounts& repairs, int64_t line) {
  const size_t n = y.ids.size() - row_begin;
  int32_t* ids = y.ids.data() + row_begin;
  const bool valued = y.values.size() != 0;
  bool rising = true;
  for (size_t i = 1; i < n; ++i) rising = rising && ids[i - 1] < ids[i];
  if (rising) return;
  size_t kept = 0;
  if (!valued) {
    std::sort(ids, ids + n);
    kept = static_cast<size_t>(std::unique(ids, ids + n) - ids);
  } else {
    float* values = y.values.data() + row_begin;
    std::vector<std::pair<int32_t, float>> entries(n);
    for (size_t i = 0; i < n; ++i) entries[i] = {ids[i], values[i]};
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < n; ++i) {
      if (kept > 0 && ids[kept - 1] == entries[i].first) continue;
      ids[kept] = entries[i].first;
      values[kept++] = entries[i].second;
    }
    y.values.resize_down(row_begin + kept);
  }
  repairs.note(kDuplicateLabels, line, static_cast<int64_t>(n - kept));
  y.ids.resize_down(row_begin + kept);
}

std::string quoted(const char* p, const char* end) {
  std::string out = "'";
  const bool cut = end - p > 40;
  if (cut) end = p + 40;
  for (; p < end; ++p) out += *p >= 0x20 && *p < 0x7F ? *p : '?';
  return out + (cut ? "...'" : "'");
}

std::string expected_below(int64_t limit) {
  return limit <= 0 ? ", there are none" : ", expected 0 to " + grouped(limit - 1);
}

std::string grouped(int64_t n) {
  std::string digits = std::to_string(n);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

}  // namespace longtail
