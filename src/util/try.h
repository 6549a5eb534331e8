// Handing a failure on to the caller.
#pragma once

// TRY(expression): returns what the expression gives, an error code whose zero is success, unless it is success.
#define TRY(...)                                                                 \
  do {                                                                           \
    if (const auto failure_ = (__VA_ARGS__); failure_ != decltype(failure_){}) { \
      return failure_;                                                           \
    }                                                                            \
  } while (false)
