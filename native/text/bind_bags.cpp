// The part of longtail._native.text that belongs to bags.
#include "core/python.hpp"
#include "text/bags.hpp"
#include "text/collect.hpp"

namespace longtail {

namespace {

BagSettings make_settings(bool spaces, bool lowercase, int word_ngrams, int min_chars, int max_chars, uint32_t n_buckets) {
  BagSettings s;
  s.words.unit = spaces ? Unit::chars_of_words : Unit::word;
  s.words.lowercase = lowercase;
  s.words.min_chars = 1;
  s.word_ngrams = word_ngrams;
  s.min_chars = min_chars;
  s.max_chars = max_chars;
  s.n_buckets = n_buckets;
  return s;
}

struct BoundLearner {
  BoundLearner(const BagSettings& s, int threads) : settings(s), learner(s, threads) {}
  BagSettings settings;
  BagLearner learner;
};

}  // namespace

void bind_bags(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<BagSettings>(m, "BagSettings")
      .def("__init__",
           [](BagSettings* self, bool spaces, bool lowercase, int word_ngrams, int min_chars, int max_chars,
              uint32_t n_buckets) {
             new (self) BagSettings(make_settings(spaces, lowercase, word_ngrams, min_chars, max_chars, n_buckets));
           },
           "spaces"_a, "lowercase"_a, "word_ngrams"_a, "min_chars"_a, "max_chars"_a, "n_buckets"_a);

  nb::class_<BoundLearner>(m, "BagLearner", "Learns the words and buckets of texts. See native/text/bags.hpp.")
      .def(nb::init<const BagSettings&, int>())
      .def(
          "add",
          [](BoundLearner& self, nb::list texts, nb::object report) {
            Collected in;
            collect(texts, self.learner.n_rows(), self.settings.words, in);
            WatchPython watch(report);
            GilRelease unlocked;
            self.learner.add(in.batch, watch.get());
          },
          "IN texts, which nobody else changes", "texts"_a, "report"_a.none())
      .def_prop_ro("n_rows", [](const BoundLearner& self) { return self.learner.n_rows(); })
      .def_prop_ro("n_tokens", [](const BoundLearner& self) { return self.learner.n_tokens(); })
      .def(
          "finish",
          [](BoundLearner& self, int64_t min_count, int64_t min_bucket, nb::object report) {
            WatchPython watch(report);
            Counts counts;
            BagLearner::Vocabulary v;
            {
              GilRelease unlocked;
              v = self.learner.finish(min_count, min_bucket, counts, watch.get());
            }
            return nb::make_tuple(to_numpy(std::move(v.blob)), to_numpy(std::move(v.offsets)),
                                  to_numpy(std::move(v.word_counts)), to_numpy(std::move(v.buckets)), std::move(counts));
          },
          "OUT (words, their offsets, their counts, buckets, rows)", "min_count"_a, "min_bucket"_a,
          "report"_a.none());

  nb::class_<BagIndex>(m, "BagIndex", "Words and buckets ready to be asked. See native/text/bags.hpp.")
      .def("__init__",
           [](BagIndex* self, const BagSettings& settings, In<uint8_t> blob, In<int64_t> offsets, In<uint32_t> buckets) {
             const auto n = static_cast<int64_t>(offsets.shape(0));
             const int64_t* at = offsets.data();
             if (n < 1 || at[0] != 0 || at[n - 1] != static_cast<int64_t>(blob.shape(0)))
               throw std::invalid_argument("words: offsets must go from 0 to the length of the blob");
             for (int64_t i = 1; i < n; ++i)
               if (at[i] < at[i - 1]) throw std::invalid_argument("words: offsets must rise");
             GilRelease unlocked;
             new (self) BagIndex(settings, blob.data(), at, n - 1, buckets.data(), static_cast<int64_t>(buckets.shape(0)));
           })
      .def(
          "counts",
          [](const BagIndex& self, nb::list texts, int64_t row, int threads, nb::object report) {
            Collected in;
            collect(texts, row, self.settings().words, in);
            const bool small = in.batch.size() <= 64;
            WatchPython watch(report);
            GilRelease unlocked;
            return self.counts(in.batch, small ? 1 : threads, small ? nullptr : watch.get());
          },
          "texts"_a, "row"_a, "threads"_a, "report"_a.none())
      .def(
          "terms",
          [](const BagIndex& self, nb::str text) {
            Collected in;
            collect_one(text, 0, self.settings().words, in);
            nb::list out;
            for (const auto& [column, term] : self.terms(in.batch.views[0])) {
              PyObject* decoded = PyUnicode_DecodeUTF8(term.data(), static_cast<Py_ssize_t>(term.size()), "surrogatepass");
              if (decoded == nullptr) throw nb::python_error();
              out.append(nb::make_tuple(column, nb::steal(decoded)));
            }
            return out;
          },
          "text"_a);
}

}  // namespace longtail
