#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>

#include "core/python.hpp"
#include "text/chars.hpp"
#include "text/collect.hpp"
#include "text/counts.hpp"
#include "text/index.hpp"
#include "text/learn.hpp"

namespace longtail {

void bind_bags(nb::module_& m);

namespace {

using Offsets = std::optional<In<int64_t>>;

void check_offsets(const In<uint8_t>& blob, const In<int64_t>& offsets) {
  const auto n = static_cast<int64_t>(offsets.shape(0));
  const int64_t* at = offsets.data();
  if (n < 1 || at[0] != 0 || at[n - 1] != static_cast<int64_t>(blob.shape(0)))
    throw std::invalid_argument("strings: offsets must go from 0 to the length of the blob");
  for (int64_t i = 1; i < n; ++i)
    if (at[i] < at[i - 1]) throw std::invalid_argument("strings: offsets must rise");
}

std::vector<std::string> unpack(const In<uint8_t>& blob, const In<int64_t>& offsets) {
  check_offsets(blob, offsets);
  std::vector<std::string> out;
  for (size_t i = 0; i + 1 < offsets.shape(0); ++i)
    out.emplace_back(reinterpret_cast<const char*>(blob.data()) + offsets.data()[i],
                     static_cast<size_t>(offsets.data()[i + 1] - offsets.data()[i]));
  return out;
}

// Texts, or with given tokens all texts' tokens and where each text's begin.
void collect_batch(nb::list texts, const Offsets& starts, int64_t row, const TextSettings& settings, Collected& out) {
  if (settings.given_tokens != starts.has_value())
    throw std::invalid_argument("starts are given with given tokens, and only then");
  collect(texts, row, settings, out);
  if (!starts) return;
  const auto n = static_cast<int64_t>(starts->shape(0));
  const int64_t* at = starts->data();
  if (n < 1 || at[0] != 0 || at[n - 1] != static_cast<int64_t>(out.batch.views.size()))
    throw std::invalid_argument("starts must go from 0 to the number of tokens");
  for (int64_t i = 1; i < n; ++i)
    if (at[i] < at[i - 1]) throw std::invalid_argument("starts must rise");
  out.batch.starts.assign(at, at + n);
}

// Small batches are not worth a thread; nobody waits long enough for progress either.
bool is_small(const TextBatch& batch) {
  if (batch.views.size() > 64) return false;
  int64_t chars = 0;
  for (const TextView& view : batch.views) chars += view.length;
  return chars < 50000;
}

template <class Real>
using Values = std::optional<In<Real>>;

template <class Real>
Weights<Real> weights_of(const Values<Real>& idf, const Values<Real>& terms, int norm, int64_t n_columns) {
  if (norm < 0 || norm > 2) throw std::invalid_argument("norm: 0, 1 or 2 is expected");
  if (idf && static_cast<int64_t>(idf->shape(0)) != n_columns)
    throw std::invalid_argument("idf must have one value per column");
  Weights<Real> w;
  w.idf = idf ? idf->data() : nullptr;
  w.terms = terms ? terms->data() : nullptr;
  w.n_terms = terms ? static_cast<int64_t>(terms->shape(0)) : 0;
  w.norm = norm;
  return w;
}

template <class Real>
void weigh_counts(Counts& counts, Values<Real> idf, Values<Real> terms, int norm, Out<int64_t> indptr,
                  Out<int32_t> indices, Out<Real> data, int threads, nb::object report) {
  const Weights<Real> w = weights_of(idf, terms, norm, counts.n_columns);
  const int64_t nnz = counts.nnz();
  if (static_cast<int64_t>(indptr.shape(0)) != counts.n_rows() + 1 || static_cast<int64_t>(indices.shape(0)) != nnz ||
      static_cast<int64_t>(data.shape(0)) != nnz)
    throw std::invalid_argument("the arrays do not fit the counts");
  if (terms && (counts.is_signed || counts.max_count() >= w.n_terms))
    throw std::invalid_argument("terms must have a value for every count");
  WatchPython watch(report);
  Watch* heard = nnz < 100000 ? nullptr : watch.get();
  GilRelease unlocked;
  weigh(counts, w, indptr.data(), indices.data(), data.data(), heard == nullptr ? 1 : threads, heard);
}

/// A vocabulary with its weights: what turns one text into one row without any setting up.
struct BoundIndex {
  std::unique_ptr<TermIndex> index;
  Values<float> idf32, terms32;
  Values<double> idf64, terms64;
  int norm = 0;
  bool doubles = false;

  template <class Real>
  nb::object weighed(const CountBlock& row, const Weights<Real>& w) const {
    const auto n = static_cast<int64_t>(row.columns.size());
    if (w.terms != nullptr)
      for (const int32_t count : row.counts)
        if (count >= w.n_terms) return nb::none();
    std::vector<Real> values(static_cast<size_t>(n));
    weigh_row(row.columns.data(), row.counts.data(), n, w, values.data());
    return nb::make_tuple(to_numpy(std::vector<int32_t>(row.columns)), to_numpy(std::move(values)));
  }

  nb::object one(nb::handle text) const {
    const TextSettings& settings = index->analyzer().settings();
    if (settings.given_tokens) throw std::invalid_argument("one() takes texts, not tokens");
    Collected in;
    collect_one(text, 0, settings, in);
    thread_local Scratch scratch;
    thread_local CountBlock row;
    row.columns.clear();
    row.counts.clear();
    row.row_ends.clear();
    index->count_row(in.batch, 0, scratch, row);
    const int64_t n = index->n_columns();
    nb::object out = doubles ? weighed(row, weights_of(idf64, terms64, norm, n))
                             : weighed(row, weights_of(idf32, terms32, norm, n));
    if (scratch.text.size() > (1 << 20)) scratch = Scratch();  // an unusual text is not remembered
    return out;
  }
};

TextSettings make_settings(int unit, bool given_tokens, int min_n, int max_n, bool lowercase, int accents, int min_chars) {
  if (unit < 0 || unit > 2 || accents < 0 || accents > 2 || min_n < 1 || max_n < min_n || max_n > 65535)
    throw std::invalid_argument("text settings are out of bounds");
  TextSettings s;
  s.unit = static_cast<Unit>(unit);
  s.given_tokens = given_tokens;
  s.min_n = min_n;
  s.max_n = max_n;
  s.lowercase = lowercase && !given_tokens;  // tokens come as they are to be
  s.accents = given_tokens ? Accents::keep : static_cast<Accents>(accents);
  s.min_chars = min_chars;
  return s;
}

CharMap make_map(const In<uint32_t>& target, const In<uint32_t>& starts, const In<uint32_t>& chars) {
  CharMap map;
  map.target.assign(target.data(), target.data() + target.shape(0));
  map.starts.assign(starts.data(), starts.data() + starts.shape(0));
  map.chars.assign(chars.data(), chars.data() + chars.shape(0));
  return map;
}

void bind_learner(nb::module_& m) {
  nb::class_<Learner>(m, "Learner", "Learns a vocabulary from lists of texts. See native/text/learn.hpp.")
      .def("__init__",
           [](Learner* self, const TextSettings& settings, In<uint8_t> stops, In<int64_t> stop_offsets, bool binary,
              bool record, bool totals, int threads) {
             new (self) Learner(settings, unpack(stops, stop_offsets), binary, record, totals, threads);
           })
      .def(
          "add",
          [](Learner& self, const TextSettings& settings, nb::list texts, Offsets starts, nb::object report) {
            Collected in;
            collect_batch(texts, starts, self.n_rows(), settings, in);
            WatchPython watch(report);
            Watch* heard = is_small(in.batch) ? nullptr : watch.get();
            GilRelease unlocked;
            self.add(in.batch, heard);
          },
          "IN texts, which nobody else changes", nb::arg("settings"), nb::arg("texts"), nb::arg("starts").none(),
          nb::arg("report").none())
      .def("prune", &Learner::prune, nb::call_guard<GilRelease>())
      .def_prop_ro("n_rows", &Learner::n_rows)
      .def_prop_ro("n_seen", &Learner::n_seen)
      .def_prop_ro("bytes", &Learner::bytes)
      .def("frequencies",
           [](const Learner& self, Out<int64_t> rows, Out<int64_t> total) {
             if (rows.shape(0) != self.n_kept() || total.shape(0) != self.n_kept())
               throw std::invalid_argument("one frequency per term is given");
             self.frequencies(rows.data(), total.data());
           })
      .def("keep",
           [](Learner& self, In<uint8_t> keep) {
             if (keep.shape(0) != self.n_kept()) throw std::invalid_argument("keep has one entry per term");
             self.keep(keep.data());
           })
      .def("terms",
           [](const Learner& self) {
             std::vector<uint8_t> blob;
             std::vector<int64_t> offsets;
             {
               GilRelease unlocked;
               self.terms(blob, offsets);
             }
             return nb::make_tuple(to_numpy(std::move(blob)), to_numpy(std::move(offsets)));
           })
      .def("counts", [](Learner& self, nb::object report) {
        WatchPython watch(report);
        GilRelease unlocked;
        return self.counts(self.n_rows() > 64 ? watch.get() : nullptr);
      }, nb::arg("report").none());
}

void bind_index(nb::module_& m) {
  nb::class_<Counts>(m, "Counts", "Rows of (column, count). See native/text/counts.hpp.")
      .def_prop_ro("n_rows", &Counts::n_rows)
      .def_prop_ro("nnz", &Counts::nnz)
      .def_prop_ro("bytes", &Counts::bytes)
      .def_prop_ro("max_count", &Counts::max_count)
      .def("add_document_frequencies",
           [](const Counts& self, Out<int64_t> frequencies) {
             if (static_cast<int64_t>(frequencies.shape(0)) != self.n_columns)
               throw std::invalid_argument("one frequency per column is given");
             self.add_document_frequencies(frequencies.data());
           })
      .def("extend",
           [](Counts& self, Counts& more) {
             if (self.n_columns != more.n_columns || self.is_signed != more.is_signed || &self == &more)
               throw std::invalid_argument("counts of different vocabularies");
             for (CountBlock& block : more.blocks) self.blocks.push_back(std::move(block));
             more.blocks.clear();
           })
      .def("weigh", &weigh_counts<float>, nb::arg("idf").none(), nb::arg("terms").none(), nb::arg("norm"),
           nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("threads"), nb::arg("report").none())
      .def("weigh", &weigh_counts<double>, nb::arg("idf").none(), nb::arg("terms").none(), nb::arg("norm"),
           nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("threads"), nb::arg("report").none());

  nb::class_<BoundIndex>(m, "TermIndex", "A vocabulary ready to be asked. See native/text/index.hpp.")
      .def("__init__",
           [](BoundIndex* self, const TextSettings& settings, In<uint8_t> stops, In<int64_t> stop_offsets, bool binary,
              In<uint8_t> blob, In<int64_t> offsets) {
             check_offsets(blob, offsets);
             const auto words = unpack(stops, stop_offsets);
             GilRelease unlocked;
             auto index = std::make_unique<TermIndex>(settings, words, binary, blob.data(), offsets.data(),
                                                      static_cast<int64_t>(offsets.shape(0)) - 1);
             new (self) BoundIndex{std::move(index), {}, {}, {}, {}, 0, false};
           })
      .def("__init__",
           [](BoundIndex* self, const TextSettings& settings, In<uint8_t> stops, In<int64_t> stop_offsets, bool binary,
              int64_t n_features, bool alternate_sign) {
             auto index = std::make_unique<TermIndex>(settings, unpack(stops, stop_offsets), binary, n_features,
                                                      alternate_sign);
             new (self) BoundIndex{std::move(index), {}, {}, {}, {}, 0, false};
           })
      .def(
          "set_weights",
          [](BoundIndex& self, Values<float> idf, Values<float> terms, int norm) {
            if (terms && self.index->is_signed()) throw std::invalid_argument("signed counts have no logarithms");
            weights_of(idf, terms, norm, self.index->n_columns());
            self.idf32 = idf, self.terms32 = terms, self.norm = norm, self.doubles = false;
          },
          nb::arg("idf").none(), nb::arg("terms").none(), nb::arg("norm"))
      .def(
          "set_weights_double",
          [](BoundIndex& self, Values<double> idf, Values<double> terms, int norm) {
            if (terms && self.index->is_signed()) throw std::invalid_argument("signed counts have no logarithms");
            weights_of(idf, terms, norm, self.index->n_columns());
            self.idf64 = idf, self.terms64 = terms, self.norm = norm, self.doubles = true;
          },
          nb::arg("idf").none(), nb::arg("terms").none(), nb::arg("norm"))
      .def("one", &BoundIndex::one, "One text → (columns, values); None when a count has no logarithm prepared.",
           nb::arg("text").none())
      .def_prop_ro("n_columns", [](const BoundIndex& self) { return self.index->n_columns(); })
      .def_prop_ro("bytes", [](const BoundIndex& self) { return self.index->bytes(); })
      .def(
          "counts",
          [](const BoundIndex& self, nb::list texts, Offsets starts, int64_t row, int threads, nb::object report) {
            Collected in;
            collect_batch(texts, starts, row, self.index->analyzer().settings(), in);
            WatchPython watch(report);
            const bool small = is_small(in.batch);
            GilRelease unlocked;
            return self.index->counts(in.batch, small ? 1 : threads, small ? nullptr : watch.get());
          },
          nb::arg("texts"), nb::arg("starts").none(), nb::arg("row"), nb::arg("threads"), nb::arg("report").none());
}

}  // namespace

void bind_text(nb::module_& m) {
  nb::class_<TextSettings>(m, "TextSettings")
      .def("__init__", [](TextSettings* self, int unit, bool given_tokens, int min_n, int max_n, bool lowercase,
                          int accents, int min_chars) {
        new (self) TextSettings(make_settings(unit, given_tokens, min_n, max_n, lowercase, accents, min_chars));
      });
  bind_learner(m);
  bind_index(m);
  bind_bags(m);
  m.def("install_characters", [](In<uint8_t> flags, In<uint32_t> lower, In<uint32_t> starts, In<uint32_t> chars) {
    CharTables tables;
    tables.flags.assign(flags.data(), flags.data() + flags.shape(0));
    tables.lower = make_map(lower, starts, chars);
    install_char_tables(std::move(tables));
  });
  m.def("install_accents", [](int kind, In<uint32_t> target, In<uint32_t> starts, In<uint32_t> chars) {
    if (kind != 1 && kind != 2) throw std::invalid_argument("accents: 1 or 2 is expected");
    install_accent_map(static_cast<Accents>(kind), make_map(target, starts, chars));
  });
  m.def(
      "analyze",
      [](const TextSettings& settings, In<uint8_t> stops, In<int64_t> stop_offsets, nb::list texts, Offsets starts) {
        Collected in;
        collect_batch(texts, starts, 0, settings, in);
        const Analyzer analyzer(settings, unpack(stops, stop_offsets));
        Scratch scratch;
        nb::list out;
        for (int64_t i = 0; i < in.batch.size(); ++i) {
          const ByteBuffer& text = analyzer.grams(in.batch, i, scratch);
          nb::list terms;
          for (const Span span : scratch.grams) {
            PyObject* term = PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(text.data()) + span.begin, span.length,
                                                  "surrogatepass");
            if (term == nullptr) throw nb::python_error();
            terms.append(nb::steal(term));
          }
          out.append(terms);
        }
        return out;
      },
      "The terms of each text, in the order in which they are found.", nb::arg("settings"), nb::arg("stops"),
      nb::arg("stop_offsets"), nb::arg("texts"), nb::arg("starts").none());
}

}  // namespace longtail
