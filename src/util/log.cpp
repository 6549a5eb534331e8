#include "util/log.h"

#include <memory>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace mulciber::util {

namespace {

// Never destroyed, and kept out of spdlog's registry, which the program may use itself.
std::shared_ptr<spdlog::logger>& logger() {
  static auto* instance = [] {
    auto made = std::make_shared<spdlog::logger>("mulciber", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%n: %l: %v");
    made->set_level(spdlog::level::warn);
    return new std::shared_ptr<spdlog::logger>(std::move(made));
  }();
  return *instance;
}

}  // namespace

spdlog::logger& log() { return *logger(); }

void startLog(const std::string& level, const std::string& file) {
  if (!file.empty()) {
    try {
      log().sinks() = {std::make_shared<spdlog::sinks::basic_file_sink_mt>(file)};
      log().set_pattern("%Y-%m-%d %T.%e %n: %l: %v");
    } catch (const spdlog::spdlog_ex& error) {
      log().warn("MULCIBER_LOG_FILE cannot be written: {}", error.what());
    }
  }
  const auto known = spdlog::level::from_str(level);  // what it does not know is "off" to it
  if (known != spdlog::level::off || level == "off") log().set_level(known);
  else
    log().warn("MULCIBER_LOG is \"{}\", which is no level (off, error, warn, info, debug, trace): it is ignored",
               level);
  log().flush_on(spdlog::level::warn);
}

}  // namespace mulciber::util
