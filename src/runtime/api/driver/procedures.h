// The names cuGetProcAddress knows; generate.py writes the table.
#pragma once

namespace mulciber::api {

struct Procedure {
  const char* name;  // without _v2 or _ptsz
  unsigned since;    // the CUDA version that brought it, 1000 * major + 10 * minor
  bool isPerThread;  // _ptsz or _ptds
  void (*entry)();
};
extern const Procedure procedures[];
extern const unsigned procedureCount;

}  // namespace mulciber::api
