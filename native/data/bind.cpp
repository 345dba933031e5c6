#include "core/python.hpp"

namespace longtail {

void bind_data(nb::module_& m) { (void)m; }

}  // namespace longtail
