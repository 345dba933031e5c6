#include "text/collect.hpp"

namespace longtail {

namespace {

void install_tables(const TextSettings& settings) {
  const bool accents_missing = settings.accents != Accents::keep && accent_map(settings.accents) == nullptr;
  if (char_tables() != nullptr && !accents_missing) return;
  nb::object tables = nb::module_::import_("longtail.text.unicode_tables");
  if (char_tables() == nullptr) tables.attr("install_characters")();
  if (accents_missing) tables.attr("install_accents")(static_cast<int>(settings.accents));
  if (char_tables() == nullptr) throw std::logic_error("character tables were not installed");
  if (settings.accents != Accents::keep && accent_map(settings.accents) == nullptr)
    throw std::logic_error("the table of accents was not installed");
}

TextView view_of(nb::handle text, Collected& out) {
#ifdef Py_LIMITED_API
  const Py_ssize_t length = PyUnicode_GetLength(text.ptr());
  if (nb::cast<bool>(text.attr("isascii")())) {
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), nullptr);
    if (bytes == nullptr) throw nb::python_error();
    return {bytes, length, 0, false};
  }
  out.copies.emplace_back(new uint32_t[static_cast<size_t>(length) + 1]);
  if (PyUnicode_AsUCS4(text.ptr(), out.copies.back().get(), length + 1, 0) == nullptr) throw nb::python_error();
  return {out.copies.back().get(), length, 4, false};
#else
  (void)out;
#if PY_VERSION_HEX < 0x030C0000
  if (PyUnicode_READY(text.ptr()) != 0) throw nb::python_error();
#endif
  const bool ascii = PyUnicode_IS_ASCII(text.ptr());
  const auto kind = static_cast<uint8_t>(ascii ? 0 : static_cast<int>(PyUnicode_KIND(text.ptr())));
  return {PyUnicode_DATA(text.ptr()), PyUnicode_GET_LENGTH(text.ptr()), kind, false};
#endif
}

template <class Code>
bool holds_capital_sigma(const void* data, int64_t n) {
  const auto* codes = static_cast<const Code*>(data);
  bool found = false;
  for (int64_t i = 0; i < n; ++i) found |= codes[i] == 0x3A3;
  return found;
}

}  // namespace

void collect_one(nb::handle text, int64_t row, const TextSettings& settings, Collected& out) {
  if (!PyUnicode_Check(text.ptr())) {
    nb::object error = nb::module_::import_("longtail.errors").attr("DataError");
    const std::string type = nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(text.ptr()))).attr("__name__"));
    const std::string message = "Texts must be str. Row " + std::to_string(row) + " is " + type + " instead.";
    PyErr_SetString(error.ptr(), message.c_str());
    throw nb::python_error();
  }
  TextView view = view_of(text, out);
  if (view.kind != 0) install_tables(settings);
  // Σ becomes σ or ς by what stands around it. That rule is the interpreter's, and it is asked.
  const bool sigma = settings.lowercase && ((view.kind == 2 && holds_capital_sigma<uint16_t>(view.data, view.length)) ||
                                            (view.kind == 4 && holds_capital_sigma<uint32_t>(view.data, view.length)));
  if (sigma) {
    nb::object lower = nb::handle(reinterpret_cast<PyObject*>(&PyUnicode_Type)).attr("lower")(text);
    out.kept.append(lower);
    view = view_of(lower, out);
    view.lowered = true;
  }
  out.batch.views.push_back(view);
}

void collect(nb::list texts, int64_t row, const TextSettings& settings, Collected& out) {
  out.batch.views.reserve(nb::len(texts));
  for (nb::handle text : texts) collect_one(text, row++, settings, out);
}

}  // namespace longtail
