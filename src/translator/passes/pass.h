// A pass changes one function. It states what it needs and what it leaves behind in its header.
#pragma once

#include <string_view>

#include "mulciber/translator.h"
#include "translator/ir/ir.h"

namespace mulciber::passes {

struct PassContext {
  const TargetProfile& profile;
  const TranslateOptions& options;
  ir::Program& program;
};

class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;
  virtual bool run(ir::Function& function, PassContext& context) = 0;  // true when something changed
};

}  // namespace mulciber::passes
