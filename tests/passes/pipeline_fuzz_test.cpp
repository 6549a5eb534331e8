// Random control-flow graphs through the whole pipeline: what comes out must be SPIR-V that its validator accepts.
#include <gtest/gtest.h>

#include "support/random_function.h"
#include "translator/ir/printer.h"
#include "translator/passes/pipeline.h"
#include "translator/spirv/spirv.h"
#include "translator/spirv/validation.h"

namespace mulciber {
namespace {

TEST(PipelineFuzz, GivesValidSpirv) {
  TargetProfile profile;
  profile.maximalReconvergence = true;
  TranslateOptions options;
  options.validate = true;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    test::RandomFunctionOptions shape;
    shape.blocks = unsigned(3 + random() % (seed % 10 == 0 ? 120 : 24));
    shape.terminates = seed % 4 != 0;
    shape.warpBarriers = seed % 2 != 0;
    shape.constantBranches = seed % 3 == 0;
    ir::Program program;
    program.functions.push_back(test::randomFunction(random, shape));
    std::string before = ir::print(program);
    passes::PassContext context{profile, options, program};
    ASSERT_EQ(passes::runPipeline(context), "") << "seed " << seed;
    spirv::Refusal refusal;
    auto words = spirv::emit(program, profile, options, refusal);
    ASSERT_TRUE(words) << refusal.reason;
    ASSERT_EQ(spirv::validate(*words), "") << "seed " << seed << "\n" << before << ir::print(program);
  }
}

}  // namespace
}  // namespace mulciber
