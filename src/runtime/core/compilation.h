// One step of a kernel's way from PTX to something that can be launched. It tells the user how far that is when a
// program's first start takes long, and the trace and the explanation what happened.
#pragma once

#include <cstdint>
#include <string>

namespace mulciber::core {

class Compilation {
 public:
  enum class Step : uint8_t { Translation, Pipeline };

  Compilation(Step step, const std::string& kernel);
  ~Compilation();
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  void wasCached() { isCached_ = true; }  // its result came from the cache on disk
  bool isCached() const { return isCached_; }
  double seconds() const;  // since it began

 private:
  const Step step_;
  const std::string& kernel_;
  const int64_t begin_;
  bool isCached_ = false;
};

}  // namespace mulciber::core
