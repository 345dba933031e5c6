// The one extension module. Each room binds its kernels into a submodule of its own: longtail._native.<room>.
#include <exception>

#include "core/isa.hpp"
#include "core/python.hpp"

namespace longtail {

void bind_data(nb::module_& m);
void bind_text(nb::module_& m);
void bind_labels(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_linear(nb::module_& m);
void bind_groups(nb::module_& m);
void bind_softmax(nb::module_& m);
void bind_metrics(nb::module_& m);

namespace {

template <class Bind>
void room(nb::module_& m, const char* name, Bind bind) {
  nb::module_ sub = m.def_submodule(name);
  bind(sub);
}

}  // namespace

NB_MODULE(_native, m) {
  nb::set_leak_warnings(false);
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const IsaError& wrong) {
      PyErr_SetString(nb::module_::import_("longtail.errors").attr("ParameterError").ptr(), wrong.what());
    }
  });
  m.def("active_isa", [] { return isa_name(active_isa()); }, "The instruction set that kernels use now.");
  m.def("machine_isa", [] { return isa_name(machine_isa()); }, "The best instruction set of this machine.");
  m.def(
      "csr_flaws",
      [](nb::object indptr, In<int32_t> indices, In<float> data, int64_t n_cols) {
        return csr_flaws(CsrArg(std::move(indptr), indices, data, n_cols).view());
      },
      "Checks the structure of a CSR matrix (ValueError); gives bits: 1 unsorted, 2 duplicates, 4 not finite.");
  room(m, "data", bind_data);
  room(m, "text", bind_text);
  room(m, "labels", bind_labels);
  room(m, "trees", bind_trees);
  room(m, "linear", bind_linear);
  room(m, "groups", bind_groups);
  room(m, "softmax", bind_softmax);
  room(m, "metrics", bind_metrics);
}

}  // namespace longtail
