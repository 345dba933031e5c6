// longtail._native.data
//
// Parsers take a block of whole lines (a buffer of bytes that ends with '\n') and give a dict: rows, lines, arrays,
// counts of repairs, and `error` = None or (line from 0, message). They never throw for what stands in the block.
#include <algorithm>
#include <cmath>

#include "core/python.hpp"
#include "data/block.hpp"
#include "data/decimal.hpp"
#include "data/join.hpp"
#include "data/json_lines.hpp"
#include "data/sparse_lines.hpp"
#include "data/table_lines.hpp"
#include "data/text_lines.hpp"
#include "data/write_lines.hpp"

namespace longtail {

namespace {

using Bytes = In<uint8_t>;

struct Span {
  const char* begin;
  const char* end;
};

Span lines_of(const Bytes& block) {
  const char* begin = reinterpret_cast<const char*>(block.data());
  const char* end = begin + block.shape(0);
  if (begin == end || end[-1] != '\n') throw std::invalid_argument("block: must end with a line end");
  return {begin, end};
}

int checked_threads(int threads) {
  if (threads < 1 || threads > 4096) throw std::invalid_argument("threads: must be in [1, 4096]");
  return threads;
}

int64_t checked_limit(int64_t n, const char* name) {
  if (n < 0 || n > INT32_MAX) throw std::invalid_argument(std::string(name) + ": must be in [0, 2^31)");
  return n;
}

template <class T>
nb::object owned(Grow<T>&& values) {
  auto* keep = new Grow<T>(std::move(values));
  nb::capsule owner(keep, [](void* p) noexcept { delete static_cast<Grow<T>*>(p); });
  keep->room(1);  // never null, even when empty
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(keep->data(), {keep->size()}, owner));
}

nb::object new_string(const char* p, int64_t n) {
  PyObject* text = PyUnicode_FromStringAndSize(p, static_cast<Py_ssize_t>(n));
  if (text == nullptr) throw nb::python_error();
  return nb::steal(text);
}

nb::list texts_of(std::vector<Part>& parts) {
  nb::list out;
  for (Part& part : parts) {
    int64_t begin = 0;
    for (size_t row = 0; row < part.text_ends.size(); ++row) {
      out.append(new_string(part.text.data() + begin, part.text_ends[row] - begin));
      begin = part.text_ends[row];
    }
    Grow<char>().swap(part.text);
    Grow<int64_t>().swap(part.text_ends);
  }
  return out;
}

nb::tuple presence(const Presence& seen) { return nb::make_tuple(seen.rows, seen.first_with, seen.first_without); }

nb::dict result_of(Joined&& joined, std::vector<Part>& parts, bool texts) {
  nb::dict out;
  out["rows"] = joined.rows;
  out["lines"] = joined.lines;
  if (joined.failed) {
    // Messages quote bytes of the input and are ASCII; anything else would be replaced here.
    out["error"] = nb::make_tuple(joined.error_line, nb::steal(PyUnicode_DecodeUTF8(joined.error.data(), static_cast<Py_ssize_t>(joined.error.size()), "replace")));
    return out;
  }
  out["error"] = nb::none();
  out["texts"] = texts ? nb::object(texts_of(parts)) : nb::none();
  out["x_counts"] = owned(std::move(joined.x.counts));
  out["x_ids"] = owned(std::move(joined.x.ids));
  out["x_values"] = owned(std::move(joined.x.values));
  out["y_counts"] = owned(std::move(joined.y.counts));
  out["y_ids"] = owned(std::move(joined.y.ids));
  out["y_values"] = owned(std::move(joined.y.values));
  out["has_text"] = presence(joined.has_text);
  out["has_x"] = presence(joined.has_x);
  out["has_y"] = presence(joined.has_y);
  out["smallest_feature"] = joined.smallest_feature;
  out["largest_feature"] = joined.largest_feature;
  out["largest_label"] = joined.largest_label;
  nb::dict repairs;
  for (int r = 0; r < kRepairs; ++r)
    if (joined.repairs.count[r] > 0)
      repairs[kRepairNames[r]] = nb::make_tuple(joined.repairs.count[r], joined.repairs.first_line[r]);
  out["repairs"] = repairs;
  return out;
}

/// Cuts the block, parses the parts side by side with `parse(begin, end, part)`, joins them.
template <class Parse>
nb::dict parse_block(const Bytes& block, int threads, LabelTable* table, bool texts, const Parse& parse) {
  const Span span = lines_of(block);
  checked_threads(threads);
  std::vector<Part> parts;
  Joined joined;
  {
    GilRelease free;
    const auto cuts = cut_at_lines(span.begin, span.end, parts_for(span.end - span.begin, threads));
    parts.resize(cuts.size() - 1);
    parallel_for(static_cast<int64_t>(parts.size()), threads, [&](int64_t i, int) {
      const size_t at = static_cast<size_t>(i);
      parse(cuts[at], cuts[at + 1], parts[at]);
    });
    joined = join_parts(parts, table, threads);
  }
  return result_of(std::move(joined), parts, texts);
}

nb::dict parse_sparse(Bytes block, bool labels_first, bool svmlight, bool matrix_of_labels, int64_t n_features, int64_t n_labels,
                      const std::string& limits_from, int threads) {
  SparseLines format;
  format.labels_first = labels_first;
  format.svmlight = svmlight;
  format.matrix_of_labels = matrix_of_labels;
  format.n_features = checked_limit(n_features, "n_features");
  format.n_labels = checked_limit(n_labels, "n_labels");
  format.limits_from = limits_from.c_str();
  return parse_block(block, threads, nullptr, false,
                     [&](const char* begin, const char* end, Part& part) { parse_sparse_lines(begin, end, format, part); });
}

nb::dict parse_json(Bytes block, LabelTable& table, std::vector<std::string> text_fields, std::string label_field,
                    std::string features_field, int64_t n_features, int64_t n_labels, int threads) {
  JsonLines format;
  format.text_fields = std::move(text_fields);
  format.label_field = std::move(label_field);
  format.features_field = std::move(features_field);
  format.n_features = checked_limit(n_features, "n_features");
  format.n_labels = checked_limit(n_labels, "n_labels");
  return parse_block(block, threads, &table, true,
                     [&](const char* begin, const char* end, Part& part) { parse_json_lines(begin, end, format, part); });
}

nb::dict parse_texts(Bytes block, int threads) {
  return parse_block(block, threads, nullptr, true,
                     [](const char* begin, const char* end, Part& part) { parse_text_lines(begin, end, part); });
}

char one_char(const std::string& text, const char* name, bool may_be_empty) {
  if (text.empty() && may_be_empty) return 0;
  if (text.size() != 1 || text[0] == '\n' || text[0] == '\r' || text[0] == 0 || static_cast<unsigned char>(text[0]) >= 0x80)
    throw std::invalid_argument(std::string(name) + ": must be one ASCII character, no line end");
  return text[0];
}

nb::dict parse_table(Bytes block, LabelTable& table, const std::string& delimiter, const std::string& quote, std::vector<int> text_columns,
                     int label_column, int n_columns, std::string label_separator, bool label_ids, int64_t n_labels, int threads) {
  TableLines format;
  format.delimiter = one_char(delimiter, "delimiter", false);
  format.quote = one_char(quote, "quote", true);
  if (format.delimiter == format.quote) throw std::invalid_argument("delimiter and quote: must differ");
  if (n_columns < 1) throw std::invalid_argument("n_columns: must be at least 1");
  for (const int column : text_columns)
    if (column < 0 || column >= n_columns) throw std::invalid_argument("text_columns: out of range");
  if (label_column < -1 || label_column >= n_columns) throw std::invalid_argument("label_column: out of range");
  if (label_separator.empty()) throw std::invalid_argument("label_separator: must not be empty");
  format.text_columns = std::move(text_columns);
  format.label_column = label_column;
  format.n_columns = n_columns;
  format.label_separator = std::move(label_separator);
  format.label_ids = label_ids;
  format.n_labels = checked_limit(n_labels, "n_labels");
  checked_threads(threads);
  const Span span = lines_of(block);
  std::vector<Part> parts;
  Joined joined;
  int64_t consumed = 0;
  {
    GilRelease free;
    parts = parse_table_block(span.begin, span.end, format, threads);
    consumed = parts.back().consumed - span.begin;
    joined = join_parts(parts, &table, threads);
  }
  nb::dict out = result_of(std::move(joined), parts, true);
  out["consumed"] = consumed;
  return out;
}

nb::object read_record(Bytes block, const std::string& delimiter, const std::string& quote) {
  const Span span = lines_of(block);
  std::vector<std::string> fields;
  int64_t consumed = 0;
  std::string error;
  const bool ok = read_table_record(span.begin, span.end, one_char(delimiter, "delimiter", false), one_char(quote, "quote", true), fields,
                                    consumed, error);
  if (!error.empty()) return nb::make_tuple(nb::none(), error);
  if (!ok) return nb::none();
  return nb::make_tuple(fields, consumed);
}

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

nb::bytes write_labelled(nb::object y_indptr, In<int32_t> y_ids, int64_t n_labels, nb::object x_indptr, In<int32_t> x_ids,
                         In<float> x_values, int64_t n_features, bool svmlight, int base, int threads) {
  const CsrArg y(y_indptr, y_ids, n_labels);
  const CsrArg x(x_indptr, x_ids, x_values, n_features);
  if (y.view().n_rows != x.view().n_rows) throw std::invalid_argument("labels and features: must have the same number of rows");
  if (base != 0 && base != 1) throw std::invalid_argument("base: must be 0 or 1");
  checked_threads(threads);
  for (int64_t p = 0; p < x.view().nnz(); ++p)
    if (!std::isfinite(x.view().data[p])) throw std::invalid_argument("features: must be finite");
  std::string text;
  {
    GilRelease free;
    text = write_labelled_rows(y.view(), x.view(), svmlight, base, threads);
  }
  return to_bytes(text);
}

nb::bytes write_matrix(nb::object indptr, In<int32_t> ids, In<float> values, int64_t n_cols, int threads) {
  const CsrArg m(indptr, ids, values, n_cols);
  checked_threads(threads);
  for (int64_t p = 0; p < m.view().nnz(); ++p)
    if (!std::isfinite(m.view().data[p])) throw std::invalid_argument("matrix: values must be finite");
  std::string text;
  {
    GilRelease free;
    text = write_matrix_rows(m.view(), threads);
  }
  return to_bytes(text);
}

nb::object read_number(const std::string& text) {
  const std::string line = text + "\n";
  const char* p = line.data();
  const char* end = p + text.size();
  float value = 0.0f;
  if (parse_float(p, end, value) != Number::ok || p != end) return nb::none();
  return nb::cast(static_cast<double>(value));
}

std::string write_number(float value) {
  if (!std::isfinite(value)) throw std::invalid_argument("value: must be finite");
  char text[48];
  return std::string(text, write_float(value, text));
}

}  // namespace

void bind_data(nb::module_& m) {
  nb::class_<LabelTable>(m, "LabelTable", "Label names in order of first appearance, or a fixed list of known ones.")
      .def(nb::init<>())
      .def(
          "fix",
          [](LabelTable& table, const std::vector<std::string>& names, bool drop_unknown) {
            for (const auto& name : names) table.names.add(name.data(), name.size());
            if (static_cast<size_t>(table.names.size()) != names.size()) throw std::invalid_argument("names: must be unique");
            table.fixed = true;
            table.drop_unknown = drop_unknown;
          },
          nb::arg("names"), nb::arg("drop_unknown"))
      .def_prop_ro("kind", [](const LabelTable& table) { return static_cast<int>(table.kind); }, "0 unknown, 1 ids, 2 names.")
      .def("__len__", [](const LabelTable& table) { return table.names.size(); })
      .def("to_list", [](const LabelTable& table) {
        nb::list out;
        for (int32_t id = 0; id < table.names.size(); ++id)
          out.append(new_string(table.names.begin_of(id), static_cast<int64_t>(table.names.length_of(id))));
        return out;
      });
  m.def("parse_sparse", &parse_sparse, nb::arg("block"), nb::arg("labels_first"), nb::arg("svmlight"), nb::arg("matrix_of_labels"),
        nb::arg("n_features"), nb::arg("n_labels"), nb::arg("limits_from"), nb::arg("threads"));
  m.def("parse_json", &parse_json, nb::arg("block"), nb::arg("table"), nb::arg("text_fields"), nb::arg("label_field"),
        nb::arg("features_field"), nb::arg("n_features"), nb::arg("n_labels"), nb::arg("threads"));
  m.def("parse_texts", &parse_texts, nb::arg("block"), nb::arg("threads"));
  m.def("parse_table", &parse_table, nb::arg("block"), nb::arg("table"), nb::arg("delimiter"), nb::arg("quote"), nb::arg("text_columns"),
        nb::arg("label_column"), nb::arg("n_columns"), nb::arg("label_separator"), nb::arg("label_ids"), nb::arg("n_labels"),
        nb::arg("threads"));
  m.def("read_record", &read_record, nb::arg("block"), nb::arg("delimiter"), nb::arg("quote"),
        "The fields of the first record and its length; None when it has no end; (None, message) when it is wrong.");
  m.def("write_labelled", &write_labelled, nb::arg("y_indptr"), nb::arg("y_ids"), nb::arg("n_labels"), nb::arg("x_indptr"),
        nb::arg("x_ids"), nb::arg("x_values"), nb::arg("n_features"), nb::arg("svmlight"), nb::arg("base"), nb::arg("threads"));
  m.def("write_matrix", &write_matrix, nb::arg("indptr"), nb::arg("ids"), nb::arg("values"), nb::arg("n_cols"), nb::arg("threads"));
  m.def("read_number", &read_number, nb::arg("text"), "The nearest float32 as a float; None when the text is not a finite number.");
  m.def("write_number", &write_number, nb::arg("value"), "The shortest decimal that reads back as the same float32.");
}

}  // namespace longtail
