#include "translator/passes/pipeline.h"

#include <memory>
#include <vector>

#include "translator/ir/printer.h"
#include "translator/ir/verifier.h"
#include "translator/passes/ssa.h"
#include "translator/passes/structurize.h"

namespace mulciber::passes {
namespace {

std::vector<std::unique_ptr<Pass>> passes() {
  std::vector<std::unique_ptr<Pass>> list;
  list.push_back(std::make_unique<Structurize>());
  list.push_back(std::make_unique<Ssa>());
  return list;
}

}  // namespace

std::string runPipeline(PassContext& context) {
  ir::Function& kernel = *context.program.functions.front();
  const TranslateOptions& options = context.options;
  for (const auto& pass : passes()) {
    pass->run(kernel, context);
#ifndef NDEBUG
    if (std::string faults = ir::verify(kernel); !faults.empty())
      return "internal error after " + std::string(pass->name()) + ":\n" + faults;
#endif
    if (options.dump) options.dump(options.dumpUser, pass->name(), ir::print(context.program));
  }
  return {};
}

}  // namespace mulciber::passes
