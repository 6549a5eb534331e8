// An object of the program's with a count of references: the program's own, those of graphs, and those of executable
// graphs. When the last reference goes, its destructor runs, once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "runtime/core/error.h"

namespace mulciber::core {

class UserObject {
 public:
  UserObject(void (*destructor)(void*), void* data) : destructor_(destructor), data_(data) {}
  ~UserObject();
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;

 private:
  void (*const destructor_)(void*);
  void* const data_;
};
using UserObjectRef = std::shared_ptr<UserObject>;

// References by number, as programs hold and give them: the object is kept while there are any.
class UserReferences {
 public:
  void add(const UserObjectRef& object, uint64_t count);
  // InvalidValue when there is none; of more than there are, all.
  Error drop(const UserObject* object, uint64_t count);
  UserObjectRef find(const UserObject* object) const;  // null when there is no reference
  bool isEmpty() const { return held_.empty(); }

 private:
  struct Held {
    UserObjectRef object;
    uint64_t count;
  };
  std::map<const UserObject*, Held> held_;
};

// What the program itself holds, over all threads.
Error createUserObject(void (*destructor)(void*), void* data, uint64_t count, const UserObject*& out);
Error retainUserObject(const UserObject* object, uint64_t count);
Error releaseUserObject(const UserObject* object, uint64_t count);
// For a graph: the object, which must be one that the program holds; with `moves` the program's references go over.
Error takeUserObject(const UserObject* object, uint64_t count, bool moves, UserObjectRef& out);

}  // namespace mulciber::core
