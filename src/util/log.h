// The log: one spdlog logger, on standard error unless MULCIBER_LOG_FILE says otherwise.
#pragma once

#include <string>

#include <spdlog/logger.h>

namespace mulciber::util {

spdlog::logger& log();

// Sets level and place; what `log` gives before is standard error at level warn.
void startLog(const std::string& level, const std::string& file);

}  // namespace mulciber::util
