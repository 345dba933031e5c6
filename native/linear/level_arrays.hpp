// A level between C++ and Python: a dict of arrays by name.
#pragma once

#include <nanobind/nanobind.h>

#include "linear/layout.hpp"

namespace longtail {

/// Gives the arrays of a level to Python without copying.
nanobind::dict level_to_python(Level&& level);

/// A level whose arrays belong to Python (often a memory-mapped file), kept alive and checked.
class PythonLevel {
 public:
  PythonLevel(nanobind::dict arrays, int64_t n_features, ValueType type);
  LevelView view;
  LevelSizes sizes{};

 private:
  std::vector<nanobind::object> keep_;
};

ValueType value_type_of(const std::string& name);

}  // namespace longtail
