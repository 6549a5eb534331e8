// Text for JSON.
#pragma once

#include <string>
#include <string_view>

namespace mulciber::util {

// `text` as a JSON string, with the quotes.
std::string json(std::string_view text);

}  // namespace mulciber::util
