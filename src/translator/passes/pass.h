// A pass changes one function. What it needs and what it leaves is in the list of pipeline.cpp.
#pragma once

#include <string_view>

#include "mulciber/translator.h"
#include "translator/ir/ir.h"

namespace mulciber::passes {

struct PassContext {
  const TargetProfile& profile;
  const TranslateOptions& options;
  ir::Program& program;

  // Debug builds, and those who ask for validation, verify the program after each step.
  bool verifies() const {
#ifdef NDEBUG
    return options.validate;
#else
    return true;
#endif
  }
};

class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;
  virtual bool run(ir::Function& function, PassContext& context) = 0;  // true when something changed
};

}  // namespace mulciber::passes
