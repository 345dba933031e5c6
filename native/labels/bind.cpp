#include "core/python.hpp"

namespace longtail {

void bind_labels(nb::module_& m) { (void)m; }

}  // namespace longtail
