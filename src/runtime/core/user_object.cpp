#include "runtime/core/user_object.h"

#include <mutex>

#include "util/exit_gate.h"

namespace mulciber::core {

namespace {

struct Program {
  std::mutex mutex;
  UserReferences references;
};

Program& program() {
  static auto* const instance = new Program;  // programs release objects from exit handlers
  return *instance;
}

}  // namespace

// The destructor may call no function of CUDA's.
UserObject::~UserObject() {
  const util::Outside outside;
  destructor_(data_);
}

void UserReferences::add(const UserObjectRef& object, uint64_t count) {
  held_.try_emplace(object.get(), Held{object, 0}).first->second.count += count;
}

UserObjectRef UserReferences::find(const UserObject* object) const {
  const auto held = held_.find(object);
  return held == held_.end() ? nullptr : held->second.object;
}

Error UserReferences::drop(const UserObject* object, uint64_t count) {
  const auto held = held_.find(object);
  if (held == held_.end()) return Error::InvalidValue;
  if (held->second.count <= count) held_.erase(held);
  else held->second.count -= count;
  return Error::Success;
}

Error createUserObject(void (*destructor)(void*), void* data, uint64_t count, const UserObject*& out) {
  if (!destructor || count == 0) return Error::InvalidValue;
  auto object = std::make_shared<UserObject>(destructor, data);
  out = object.get();
  std::lock_guard lock(program().mutex);
  program().references.add(object, count);
  return Error::Success;
}

Error retainUserObject(const UserObject* object, uint64_t count) {
  std::lock_guard lock(program().mutex);
  const UserObjectRef found = program().references.find(object);
  if (!found || count == 0) return Error::InvalidValue;
  program().references.add(found, count);
  return Error::Success;
}

Error releaseUserObject(const UserObject* object, uint64_t count) {
  UserObjectRef last;  // its destructor runs outside the lock
  std::lock_guard lock(program().mutex);
  last = program().references.find(object);
  return count == 0 ? Error::InvalidValue : program().references.drop(object, count);
}

Error takeUserObject(const UserObject* object, uint64_t count, bool moves, UserObjectRef& out) {
  std::lock_guard lock(program().mutex);
  out = program().references.find(object);
  if (!out || count == 0) return Error::InvalidValue;
  return moves ? program().references.drop(object, count) : Error::Success;
}

}  // namespace mulciber::core
