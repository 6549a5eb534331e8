#include "runtime/core/explanation.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "runtime/vk/device.h"
#include "util/environment.h"

namespace mulciber::core {

namespace {

struct Fact {
  bool holds;
  const char* text;
};

std::string list(std::initializer_list<Fact> facts, const char* indent) {
  std::string out;
  for (const Fact& fact : facts)
    if (fact.holds) out += fmt::format("{}{}\n", indent, fact.text);
  return out;
}

const char* denormals(const TargetProfile& profile) {
  if (profile.denormPreserve32) return "kept: kernels ask the device for that";
  if (profile.denormsByDefault32) return "kept: the device keeps them by itself";
  if (util::environment().exactDenormals)
    return "kept: the device flushes them, and that is repaired; MULCIBER_EXACT_DENORMALS=0 saves its cost";
  return "flushed by the device in single precision, because MULCIBER_EXACT_DENORMALS=0 asks for that";
}

}  // namespace

Explanation* Explanation::active() {
  static Explanation* const explanation = util::environment().explain ? new Explanation : nullptr;
  return explanation;
}

Explanation::Explanation() {
  std::atexit([] { active()->print(); });
}

void Explanation::addDevice(const std::string& name, const vk::Device& device) {
  const TargetProfile& profile = device.profile();
  std::string text = fmt::format("device {}\n  denormals: {}\n", name, denormals(profile));
  text += list(
      {
          {!profile.hasWarps(), "fallback: warp operations go through shared memory: subgroups are not 32 wide"},
          {!profile.float16, "fallback: half precision is computed in single precision"},
          {!profile.storage8 || !profile.storage16, "fallback: 8- or 16-bit accesses are parts of 32-bit words"},
          {!profile.atomicFloat32Add, "fallback: float atomic add is a loop of compare and swap"},
          {!profile.atomicFloat64Add, "fallback: double atomic add is a loop of compare and swap"},
          {!profile.exactFma32 && profile.exactDot32,
           "fused multiply-adds are dot products; a kernel of which the driver takes one apart is repaired in "
           "software"},
          {!profile.exactFma32 && !profile.exactDot32,
           "fallback: fused multiply-adds are repaired in software where denormals are involved"},
          {!profile.exactDivSqrt32, "fallback: division and square root are refined in software"},
          {!profile.exitedThreadsArrive, "fallback: threads that have ended are counted at barriers in software"},
          {profile.gridsInPieces, "fallback: large grids are dispatched in pieces"},
          {!profile.warpsProgress, "fallback: a warp that spins lets the others of its block run at barriers"},
      },
      "  ");
  for (size_t i = 0; i < vk::workaroundList().size(); ++i)
    if (device.workarounds().has(static_cast<vk::Workaround>(i)))
      text += fmt::format("  work-around {}: {}\n", vk::workaroundList()[i].id, vk::workaroundList()[i].fault);
  std::lock_guard lock(mutex_);
  if (std::ranges::find(devices_, text) == devices_.end()) devices_.push_back(std::move(text));
}

void Explanation::addKernel(const Kernel& kernel, const std::string& name, const TargetProfile& profile, double seconds,
                            bool isCached, const std::string& messages) {
  const KernelInfo& info = kernel.info;
  std::string text;
  if (!messages.empty()) {
    text = fmt::format("kernel {}: cannot be translated\n  {}\n", name, messages);
  } else {
    text = fmt::format("kernel {}: {} in {:.1f} ms, {} words of SPIR-V\n", name,
                       isCached ? "taken from the cache" : "translated", seconds * 1e3, kernel.spirv.size());
    text += list(
        {
            {info.usesDotProducts, "its multiply-adds are dot products"},
            {info.sharedInScratch, "fallback: its shared memory lies in device memory"},
            {info.localInScratch, "fallback: its local memory lies in device memory"},
            {info.parametersInBuffer, "fallback: its parameters come in a buffer, too large for push constants"},
            {info.usesWarpOperations && !profile.hasWarps(), "fallback: its warp operations go through shared memory"},
            {info.usesPrintf, "prints, which the host shows after waits"},
            {info.usesHeap, "allocates device memory while it runs"},
            {info.usesLocks, "fallback: some of its atomic operations take a lock"},
            {info.readsHostWrites, "may wait for the host: it is helped to see the host's writes"},
            {info.usesTextures, "reads textures"},
        },
        "  ");
  }
  std::lock_guard lock(mutex_);
  kernels_.push_back(std::move(text));
}

void Explanation::addNote(const std::string& note) {
  std::lock_guard lock(mutex_);
  notes_.push_back(note);
}

void Explanation::addRefusedCall(const std::string& name) {
  std::lock_guard lock(mutex_);
  refusedCalls_.insert(name);
}

void Explanation::print() {
  std::lock_guard lock(mutex_);
  std::string text = "mulciber explains:\n";
  for (const std::string& device : devices_) text += device;
  for (const std::string& note : notes_) text += note + "\n";
  for (const std::string& kernel : kernels_) text += kernel;
  for (const std::string& call : refusedCalls_) text += fmt::format("call {}: not offered\n", call);
  std::fputs(text.c_str(), stderr);
}

}  // namespace mulciber::core
