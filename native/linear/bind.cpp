#include "core/python.hpp"

namespace longtail {

void bind_linear(nb::module_& m) { (void)m; }

}  // namespace longtail
