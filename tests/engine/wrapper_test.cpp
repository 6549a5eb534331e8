// engine.hpp: what destroys itself, and failures as exceptions.
#include <fstream>
#include <iterator>

#include "engine/test_engine.h"
//
#include "mulciber/engine.hpp"
#include "support/test_data.h"

namespace mulciber::test {

namespace {
class WrapperTest : public EngineTest {};
}  // namespace

TEST_F(WrapperTest, RecordsALaunchWithItsArguments) {
  Engine engine;
  ASSERT_EQ(engine.result, MULCIBER_SUCCESS) << engine.message;
  std::ifstream file(dataFolder() / "kernels.ptx");
  const std::string ptx{std::istreambuf_iterator<char>(file), {}};
  mulciber::engine::Module module(engine.context, ptx);
  const mulciber::engine::Kernel add = module.kernel("add");
  const mulciber::engine::Shape shape{{2, 1, 1}, {32, 1, 1}};
  add.prepare(shape);
  VkDeviceAddress data = 0;
  ASSERT_OK(mulciberAllocate(engine.context, 256, &data));
  const VkCommandBuffer commands = engine.beginCommands();
  const MulciberRecordingInfo info{sizeof(info), commands, engine.family, 0, 1};
  mulciber::engine::Recording recording(engine.context, info);
  mulciber::engine::check(mulciberRecordFill(recording.get(), data, 5, 4, 64));
  recording.launch(add, shape, data, 64, 3);
  recording.end();
  EXPECT_THROW(recording.launch(add, shape, data, 64, 3), mulciber::engine::Error);
  engine.wait(engine.submit(commands));
  mulciber::engine::Stream stream(engine.context);
  stream.launch(add, shape, data, 64, 10);
  stream.synchronize();
  int out[64] = {};
  EXPECT_OK(mulciberCopy(stream.get(), reinterpret_cast<uint64_t>(out), data, sizeof(out)));
  EXPECT_EQ(out[63], 18);
  try {
    (void)module.kernel("missing");
    ADD_FAILURE() << "there is no such kernel";
  } catch (const mulciber::engine::Error& error) {
    EXPECT_EQ(error.result(), MULCIBER_ERROR_NOT_FOUND);
    EXPECT_STREQ(error.what(), "the module has no kernel missing");
  }
}

}  // namespace mulciber::test
