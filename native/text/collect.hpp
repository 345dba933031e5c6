// Python strings as text views. The strings are held by a list that belongs to the call alone, so that what other
// threads do to the caller's list changes nothing.
#pragma once

#include "core/python.hpp"
#include "text/analyze.hpp"

namespace longtail {

/// Views of strings, and the strings that had to be made (and are kept) for them.
struct Collected {
  TextBatch batch;
  nb::list kept;
#ifdef Py_LIMITED_API
  std::vector<std::unique_ptr<uint32_t[]>> copies;  // the limited interface gives no look at a string's memory
#endif
};

/// Needs the GIL. `row` is the number of the first text, for errors (longtail.errors.DataError for what is no str).
void collect(nb::list texts, int64_t row, const TextSettings& settings, Collected& out);
/// One string.
void collect_one(nb::handle text, int64_t row, const TextSettings& settings, Collected& out);

}  // namespace longtail
