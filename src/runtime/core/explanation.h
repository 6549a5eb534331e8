// What `mulciber run --explain` prints when the process ends: the devices, which work-arounds are on there, what
// becomes of denormals, and for each kernel what was translated and what it falls back to.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "mulciber/translator.h"

namespace mulciber::vk {
class Device;
}

namespace mulciber::core {

class Explanation {
 public:
  static Explanation* active();  // null unless MULCIBER_EXPLAIN asks for it

  void addDevice(const std::string& name, const vk::Device& device);
  // `messages` of a kernel that cannot be translated; else empty.
  void addKernel(const Kernel& kernel, const std::string& name, const TargetProfile& profile, double seconds,
                 bool isCached, const std::string& messages);
  void addNote(const std::string& note);
  void addRefusedCall(const std::string& name);

 private:
  Explanation();
  void print();

  std::mutex mutex_;
  std::vector<std::string> devices_, notes_, kernels_;
  std::set<std::string> refusedCalls_;
};

}  // namespace mulciber::core
