#include "core/python.hpp"

namespace longtail {

void bind_metrics(nb::module_& m) { (void)m; }

}  // namespace longtail
