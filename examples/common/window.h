// A window that shows pictures, where the examples were built with GLFW and there is a display.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/picture.h"

namespace example {

class Window {
 public:
  // What the instance must have for a window. Fails where none can be opened.
  static std::vector<const char*> extensions();

  Window(const Gpu& gpu, const Picture& picture, const std::string& title, uint32_t width, uint32_t height,
         float exposure);
  ~Window();

  // Whether somebody has closed it. Looks at what happened to it since the last time.
  bool isClosed();
  // Draws the picture into the next image to be shown, whose number it keeps. Without `ready` and `shown` signals,
  // there is nothing to show: the window has no size.
  struct Semaphores {
    TimelinePoint ready, shown;  // to wait for before the commands, and to signal after them
  };
  Semaphores draw(VkCommandBuffer commands, uint32_t slot);
  // Once the commands are submitted.
  void show();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace example
