// Draws the frames of an example, two in flight at a time: a given number, the last of which becomes a PNG, or with
// --window until somebody closes the window.
#pragma once

#include <chrono>
#include <optional>

#include "common/options.h"
#include "common/window.h"

namespace example {

class Frames {
 public:
  static constexpr uint32_t inFlight = 2;

  // A device for the pictures, which shows them in a window if the options say so.
  static std::vector<const char*> windowExtensions(const Options& options);
  Frames(Gpu& gpu, Picture& picture, const Options& options, const std::string& title, float exposure);

  // Whether there is another frame to draw. That before the last, whose slot it has, was drawn.
  bool next();
  uint32_t number() const { return number_; }
  uint32_t slot() const { return number_ % inFlight; }
  TimelinePoint before() const { return number_ != 0 ? drawn_[(number_ - 1) % inFlight] : TimelinePoint{}; }
  VkCommandBuffer begin() { return gpu_.begin(slot()); }
  // Once all of the picture is drawn. The commands wait for `after`.
  void end(VkCommandBuffer commands, TimelinePoint after = {});

  // Waits for all, saves the picture, and says in a line how long a frame took. `what` was drawn.
  void finish(const std::string& what);

 private:
  Gpu& gpu_;
  Picture& picture_;
  const std::string output_;
  const uint32_t count_;
  const float exposure_;
  std::optional<Window> window_;
  TimelinePoint drawn_[inFlight];
  uint32_t number_ = 0;
  bool hasBegun_ = false;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace example
