#include "linear/level_arrays.hpp"

#include "core/python.hpp"

namespace longtail {

namespace {

/// A read-only array of the dict; the wrong kind is an error that names it.
template <class T>
const T* take(nb::dict arrays, const char* name, int64_t& length, std::vector<nb::object>& keep) {
  if (!arrays.contains(name)) throw std::invalid_argument(std::string("the classifiers lack the array ") + name);
  nb::object value = arrays[name];
  In<T> array;
  if (!nb::try_cast(value, array, false))
    throw std::invalid_argument(std::string("the classifiers' array ") + name + " has a wrong type or shape");
  if (reinterpret_cast<uintptr_t>(array.data()) % alignof(T) != 0)
    throw std::invalid_argument(std::string("the classifiers' array ") + name + " is not aligned");
  keep.push_back(nb::cast(array, nb::rv_policy::reference));
  keep.push_back(std::move(value));
  length = static_cast<int64_t>(array.shape(0));
  return array.data();
}

}  // namespace

ValueType value_type_of(const std::string& name) {
  if (name == "f32") return ValueType::f32;
  if (name == "f16") return ValueType::f16;
  if (name == "int8") return ValueType::int8;
  throw std::invalid_argument("weights must be f32, f16 or int8, got " + name);
}

PythonLevel::PythonLevel(nb::dict arrays, int64_t n_features, ValueType type) {
  int64_t n_ptr = 0, n_word_ptr = 0, n_blob_ptr = 0;
  view.n_features = n_features;
  view.n_top = n_top_of(n_features);
  view.type = type;
  view.child_ptr = take<int64_t>(arrays, "child_ptr", n_ptr, keep_);
  view.child = take<int32_t>(arrays, "child", sizes.child, keep_);
  view.bias = take<float>(arrays, "bias", sizes.bias, keep_);
  view.scale = take<float>(arrays, "scale", sizes.scale, keep_);
  view.tops = take<uint64_t>(arrays, "tops", sizes.tops, keep_);
  view.word_ptr = take<int64_t>(arrays, "word_ptr", n_word_ptr, keep_);
  view.words = take<uint32_t>(arrays, "words", sizes.words, keep_);
  view.blob_ptr = take<int64_t>(arrays, "blob_ptr", n_blob_ptr, keep_);
  view.blob = take<uint8_t>(arrays, "blob", sizes.blob, keep_);
  view.n_chunks = n_ptr - 1;
  if (n_ptr < 1 || n_word_ptr != n_ptr || n_blob_ptr != n_ptr)
    throw std::invalid_argument("the classifiers are damaged: pointer arrays differ in length");
}

nb::dict level_to_python(Level&& level) {
  nb::dict out;
  out["child_ptr"] = to_numpy(std::move(level.child_ptr));
  out["child"] = to_numpy(std::move(level.child));
  out["bias"] = to_numpy(std::move(level.bias));
  out["scale"] = to_numpy(std::move(level.scale));
  out["tops"] = to_numpy(std::move(level.tops));
  out["word_ptr"] = to_numpy(std::move(level.word_ptr));
  out["words"] = to_numpy(std::move(level.words));
  out["blob_ptr"] = to_numpy(std::move(level.blob_ptr));
  out["blob"] = to_numpy(std::move(level.blob));
  return out;
}

}  // namespace longtail
