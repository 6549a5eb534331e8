// Texture and surface references by the program's structures of that name, of toolkits before 12: registration.cpp
// keeps them.
#pragma once

#include <string>

#include "runtime/core/context.h"
#include "runtime/core/module.h"

namespace mulciber::api {

struct RegisteredReference {
  core::Module* module = nullptr;
  std::string name;
  bool readsFractions = false;
};

bool isReference(const void* host);
core::Error findReference(const void* host, core::Context& context,
                          RegisteredReference& out);  // NotFound: there is none

}  // namespace mulciber::api
