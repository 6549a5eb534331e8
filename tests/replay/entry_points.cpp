// Which version of a function cuGetProcAddress gives to programs of each CUDA version.
#include <dlfcn.h>

#include <array>
#include <string>

#include "replay.h"

namespace mulciber::replay {

namespace {

// The driver's functions, without _v2 and _ptsz: made from src/runtime/api/exports.
const char* const names[] = {
#include "entry_point_names.inc"
};

// 1000 * major + 10 * minor.
constexpr std::array<int, 41> versions{2000,  2010,  2020,  2030,  3000,  3010,  3020,  4000,  4010,  5000,  5050,
                                       6000,  6050,  7000,  7050,  8000,  9000,  9010,  9020,  10000, 10010, 10020,
                                       11000, 11010, 11020, 11030, 11040, 11050, 11060, 11070, 11080, 12000, 12010,
                                       12020, 12030, 12040, 12050, 12060, 12080, 12090, 13000};

// 0 for none, the number of _v2 to _v4, 10 more for _ptsz, 20 more for _ptds; 99 for what has no name.
int numberOf(const std::string& name, void* entry) {
  if (!entry) return 0;
  for (int thread = 0; thread <= 2; ++thread)
    for (int version = 1; version <= 4; ++version) {
      const std::string full = name + (version > 1 ? "_v" + std::to_string(version) : "") +
                               (thread == 1   ? "_ptsz"
                                : thread == 2 ? "_ptds"
                                              : "");
      if (dlsym(RTLD_DEFAULT, full.c_str()) == entry) return version + 10 * thread;
    }
  return 99;
}

// The versions from which on another answer is given, each with that answer and its status.
std::string answers(const std::string& name, cuuint64_t flags) {
  Notes notes;
  int last = -1;
  for (const int version : versions) {
    void* entry = nullptr;
    CUdriverProcAddressQueryResult status{};
    const int error = FUNCTION(cuGetProcAddress)(name.c_str(), &entry, version, flags, &status);
    const int answer = numberOf(name, entry) + 100 * status + 1000 * error;
    if (answer != last) notes << version << answer;
    last = answer;
  }
  return notes;
}

}  // namespace

void addEntryPoints() {
  for (const char* name : names) {
    sequence(Group::Driver, std::string("entry point ") + name, [name](World&) { return answers(name, 0); });
    sequence(Group::Driver, std::string("entry point of a thread ") + name,
             [name](World&) { return answers(name, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM); });
  }
}

}  // namespace mulciber::replay
