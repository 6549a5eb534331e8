#include "common/frames.h"

#include <cstdio>

namespace example {

std::vector<const char*> Frames::windowExtensions(const Options& options) {
  return options.isOn("window") ? Window::extensions() : std::vector<const char*>();
}

Frames::Frames(Gpu& gpu, Picture& picture, const Options& options, const std::string& title, float exposure)
    : gpu_(gpu),
      picture_(picture),
      output_(options.text("output")),
      count_(options.number("frames")),
      exposure_(exposure) {
  if (options.isOn("window")) window_.emplace(gpu, picture, title, options.width(), options.height(), exposure);
}

bool Frames::next() {
  if (hasBegun_) ++number_;
  hasBegun_ = true;
  const bool isOver = window_ && window_->isClosed();
  // With a window, --frames is the most there are.
  if (isOver || number_ == count_) return false;
  if (number_ == 1) {
    gpu_.wait(drawn_[0]);  // the first frame compiles, and is not counted
    start_ = std::chrono::steady_clock::now();
  }
  if (number_ >= inFlight) gpu_.wait(drawn_[slot()]);
  return true;
}

void Frames::end(VkCommandBuffer commands, TimelinePoint after) {
  // What is shown in a window is not known to be the last, so the PNG is made of each.
  const Window::Semaphores semaphores = window_ ? window_->draw(commands, slot()) : Window::Semaphores{};
  if (window_ || number_ + 1 == count_) picture_.read(commands);
  drawn_[slot()] = gpu_.submit(commands, {after, semaphores.ready}, {semaphores.shown});
  if (semaphores.shown.semaphore != VK_NULL_HANDLE) window_->show();
}

void Frames::finish(const std::string& what) {
  if (number_ == 0) return;
  gpu_.wait(before());
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start_;
  picture_.save(output_, exposure_);
  char one[64] = "one frame";
  if (number_ > 1) std::snprintf(one, sizeof(one), "%.3f ms a frame", time.count() / (number_ - 1));
  std::printf("%s on %s: %s; %s\n", what.c_str(), gpu_.name().c_str(), one, output_.c_str());
}

}  // namespace example
