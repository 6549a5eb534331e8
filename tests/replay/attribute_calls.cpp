// Every attribute of launches and streams, those CUDA does not have too, with values of several kinds.
#include "replay.h"

namespace mulciber::replay {

namespace {

constexpr int firstAttribute = -1, lastAttribute = 20;

struct Value {
  const char* name;
  std::function<CUlaunchAttributeValue(World&)> make;
};

CUlaunchAttributeValue words(unsigned first, unsigned second = 0, unsigned third = 0) {
  CUlaunchAttributeValue value{};
  const unsigned all[] = {first, second, third};
  std::memcpy(&value, all, sizeof(all));
  return value;
}

std::vector<Value> valuesOf(int id) {
  std::vector<Value> values;
  if (id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) {
    for (const auto& [name, ratio] : {std::pair{"ratio 0.5", 0.5f}, {"ratio 1.5", 1.5f}, {"ratio -1", -1.0f}})
      values.push_back({name, [ratio = ratio](World& w) {
                          CUlaunchAttributeValue value{};
                          value.accessPolicyWindow = {reinterpret_cast<void*>(w.device), 4096, ratio,
                                                      CU_ACCESS_PROPERTY_PERSISTING, CU_ACCESS_PROPERTY_STREAMING};
                          return value;
                        }});
    return values;
  }
  if (id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT || id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) {
    const auto of = [&values](const char* name, auto event, int flags) {
      values.push_back({name, [event, flags](World& w) {
                          CUlaunchAttributeValue value{};
                          value.launchCompletionEvent.event = event(w);
                          value.launchCompletionEvent.flags = flags;
                          return value;
                        }});
    };
    of(
        "no timing", [](World& w) { return w.untimed; }, 0);
    of(
        "timing", [](World& w) { return w.timed; }, 0);
    of(
        "gone event", [](World& w) { return w.goneEvent; }, 0);
    of(
        "no timing, flags 1", [](World& w) { return w.untimed; }, 1);
    of(
        "no timing, flags 2", [](World& w) { return w.untimed; }, 2);
    of(
        "null", [](World&) { return CUevent{}; }, 0);
    return values;
  }
  values.push_back({"0", [](World&) { return words(0); }});
  values.push_back({"1", [](World&) { return words(1); }});
  values.push_back({"2", [](World&) { return words(2); }});
  values.push_back({"3", [](World&) { return words(3); }});
  values.push_back({"101", [](World&) { return words(101); }});
  values.push_back({"-1", [](World&) { return words(0xFFFFFFFF); }});
  values.push_back({"1 1 1", [](World&) { return words(1, 1, 1); }});
  values.push_back({"1 0 1", [](World&) { return words(1, 0, 1); }});
  return values;
}

std::string launchInDriver(World& w, int id, const CUlaunchAttributeValue& value) {
  CUlaunchAttribute attribute{};
  attribute.id = static_cast<CUlaunchAttributeID>(id);
  attribute.value = value;
  const CUlaunchConfig config{2, 1, 1, 32, 1, 1, 0, w.stream, &attribute, 1};
  Notes notes;
  notes << FUNCTION(cuLaunchKernelEx)(&config, w.function, w.kernelParameters, static_cast<void**>(nullptr));
  return notes << FUNCTION(cuStreamSynchronize)(w.stream);
}

std::string launchInRuntime(World& w, int id, const CUlaunchAttributeValue& value) {
  cudaLaunchAttribute attribute{};
  attribute.id = static_cast<cudaLaunchAttributeID>(id);
  std::memcpy(&attribute.val, &value, sizeof(value));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(2);
  config.blockDim = dim3(32);
  config.stream = w.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  Notes notes;
  notes << FUNCTION(cudaLaunchKernelExC)(&config, reinterpret_cast<const void*>(w.kernel), w.kernelParameters);
  return notes << FUNCTION(cudaGetLastError)() << FUNCTION(cuStreamSynchronize)(w.stream);
}

// What is set, and what is told back.
std::string setOfStream(World& w, int id, CUlaunchAttributeValue value) {
  const auto attribute = static_cast<CUstreamAttrID>(id);
  CUstream stream = nullptr, other = nullptr;
  Notes notes;
  const auto tell = [&](CUstream of) {
    CUlaunchAttributeValue got = words(77, 77);
    notes << FUNCTION(cuStreamGetAttribute)(of, attribute, &got);
    // Addresses differ from run to run.
    if (id != CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) notes << reinterpret_cast<const int*>(&got)[0];
  };
  FUNCTION(cuStreamCreate)(&stream, 0u);
  FUNCTION(cuStreamCreate)(&other, 0u);
  (void)w;
  tell(stream);
  notes << FUNCTION(cuStreamSetAttribute)(stream, attribute, &value);
  tell(stream);
  notes << FUNCTION(cuStreamCopyAttributes)(other, stream);
  tell(other);
  FUNCTION(cuStreamDestroy)(stream);
  FUNCTION(cuStreamDestroy)(other);
  return notes;
}

}  // namespace

void addAttributeCalls() {
  for (int id = firstAttribute; id <= lastAttribute; ++id) {
    const std::string number = std::to_string(id);
    for (const Value& value : valuesOf(id)) {
      const std::string name = number + ": " + value.name;
      sequence(Group::Driver, "launch attribute " + name,
               [id, value](World& w) { return launchInDriver(w, id, value.make(w)); });
      sequence(Group::Runtime, "launch attribute " + name,
               [id, value](World& w) { return launchInRuntime(w, id, value.make(w)); });
      if (id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT && id != CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
        sequence(Group::Driver, "stream attribute " + name,
                 [id, value](World& w) { return setOfStream(w, id, value.make(w)); });
    }
  }
}

}  // namespace mulciber::replay
