// The names cuGetProcAddress knows; generate.py writes the table.
#pragma once

namespace mulciber::api {

struct Procedure {
  const char* name;  // without _v2 or _ptsz
  unsigned since;    // the CUDA version that brought this version of it; 0 for the first
  bool isPerThread;  // _ptsz or _ptds
  void (*entry)();
};
extern const Procedure procedures[];
extern const unsigned procedureCount;

}  // namespace mulciber::api
