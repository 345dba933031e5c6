#include "core/python.hpp"

namespace longtail {

void bind_text(nb::module_& m) { (void)m; }

}  // namespace longtail
