#include "core/python.hpp"

namespace longtail {

void bind_trees(nb::module_& m) { (void)m; }

}  // namespace longtail
