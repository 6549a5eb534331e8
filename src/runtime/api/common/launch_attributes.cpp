#include "runtime/api/common/launch_attributes.h"

#include <algorithm>
#include <cstring>

#include "runtime/api/common/stream_calls.h"
#include "runtime/api/entry.h"
#include "runtime/core/platform.h"

namespace mulciber::api {

using core::Error;

namespace {

// An event that a launch is to record must have no timing. It is recorded when the kernel has ended, by which time
// every block has begun and has triggered it.
Error addEvent(CUevent event, int flags, LaunchAttributes& out) {
  core::EventRef found;
  TRY(core::findEvent(reinterpret_cast<core::Event*>(event), found));
  if (flags == CU_EVENT_RECORD_EXTERNAL) return Error::IllegalState;  // for streams that are captured
  if (flags != 0) return Error::InvalidValue;
  if ((found->flags() & core::Event::DisableTiming) == 0) return Error::NotSupported;
  out.events.push_back(event);
  return Error::Success;
}

Error isOneOf(int64_t value, int64_t first, int64_t last) {
  return value >= first && value <= last ? Error::Success : Error::InvalidValue;
}

constexpr int syncDomains = 4;

Error checkDomains(const CUlaunchMemSyncDomainMap& map) {
  return map.default_ < syncDomains && map.remote < syncDomains ? Error::Success : Error::InvalidValue;
}

Error checkWindow(const CUaccessPolicyWindow& window) {
  return window.hitRatio >= 0 && window.hitRatio <= 1 ? Error::Success : Error::InvalidValue;
}

// Values that a launch and a stream take alike; all of them are hints.
Error checkHint(int id, const CUlaunchAttributeValue& value) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: return checkWindow(value.accessPolicyWindow);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      return isOneOf(value.memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: return checkDomains(value.memSyncDomainMap);
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: return Error::Success;
    default: return Error::InvalidValue;
  }
}

Error readAttribute(const CUlaunchAttribute& attribute, LaunchAttributes& out) {
  const CUlaunchAttributeValue& value = attribute.value;
  switch (static_cast<int>(attribute.id)) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE: return Error::Success;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: out.isCooperative = value.cooperative != 0; return Error::Success;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
      const auto& cluster = value.clusterDim;
      if (cluster.x == 0 && cluster.y == 0 && cluster.z == 0) return Error::Success;  // none
      if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0) return Error::InvalidClusterSize;
      out.hasClusters = true;
      return cluster.x == 1 && cluster.y == 1 && cluster.z == 1 ? Error::Success : Error::NotSupported;
    }
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return isOneOf(value.clusterSchedulingPolicyPreference, CU_CLUSTER_SCHEDULING_POLICY_DEFAULT,
                     CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
    // A kernel that may begin early need not.
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: return Error::Success;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      return addEvent(value.programmaticEvent.event, value.programmaticEvent.flags, out);
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      return addEvent(value.launchCompletionEvent.event, value.launchCompletionEvent.flags, out);
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION: {
      const auto& cluster = value.preferredClusterDim;
      out.prefersClusters = (cluster.x | cluster.y | cluster.z) != 0;
      return Error::Success;
    }
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return isOneOf(value.sharedMemCarveout, 0, 100);
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: return isOneOf(value.nvlinkUtilCentricScheduling, 0, 1);
    // Of graphs alone, and of streams alone.
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: return Error::NotSupported;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: return Error::InvalidValue;
    default: return checkHint(static_cast<int>(attribute.id), value);
  }
}

}  // namespace

Error readAttributes(const CUlaunchAttribute* attributes, unsigned count, LaunchAttributes& out) {
  if (count != 0 && !attributes) return Error::InvalidValue;
  for (unsigned i = 0; i < count; ++i) {
    const size_t eventsBefore = out.events.size();
    TRY(readAttribute(attributes[i], out));
    if (attributes[i].id == CU_LAUNCH_ATTRIBUTE_IGNORE || attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) continue;
    if (out.events.size() == eventsBefore)
      std::memcpy(out.hints[attributes[i].id].data(), &attributes[i].value, sizeof(attributes[i].value));
  }
  // Where the preferred clusters do not fit, the others are used: there must be some.
  return out.prefersClusters && !out.hasClusters ? Error::InvalidClusterSize : Error::Success;
}

Error recordEvents(core::Stream& stream, const LaunchAttributes& attributes) {
  for (CUevent event : attributes.events) TRY(recordEvent(stream, event));
  return Error::Success;
}

namespace {

// What a stream tells whose policy nobody has set: no value of the enumeration.
constexpr auto notSetSyncPolicy = static_cast<CUsynchronizationPolicy>(-1);

bool isOfStreams(int id) {
  return id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW || id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ||
         id == CU_LAUNCH_ATTRIBUTE_PRIORITY || id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ||
         id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
}

}  // namespace

Error streamAttribute(core::Stream& stream, int id, CUlaunchAttributeValue* out) {
  if (!out || !isOfStreams(id)) return Error::InvalidValue;
  core::Stream::AttributeValue kept;
  static_assert(sizeof(kept) == sizeof(*out));
  if (stream.attribute(id, kept)) {
    std::memcpy(out, kept.data(), sizeof(*out));
    return Error::Success;
  }
  std::memset(out, 0, sizeof(*out));
  if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) out->syncPolicy = notSetSyncPolicy;
  if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) out->priority = stream.priority();
  if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) out->memSyncDomainMap.remote = 1;
  return Error::Success;
}

Error setStreamAttribute(core::Stream& stream, int id, const CUlaunchAttributeValue* value) {
  if (!value || !isOfStreams(id)) return Error::InvalidValue;
  TRY(id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY
          ? isOneOf(value->syncPolicy, CU_SYNC_POLICY_AUTO, CU_SYNC_POLICY_BLOCKING_SYNC)
          : checkHint(id, *value));
  CUlaunchAttributeValue taken = *value;
  if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) taken.priority = std::clamp(value->priority, greatestPriority, leastPriority);
  core::Stream::AttributeValue kept;
  std::memcpy(kept.data(), &taken, sizeof(taken));
  stream.setAttribute(id, kept);
  return Error::Success;
}

Error kernelNodeAttribute(const core::KernelNode& node, int id, CUlaunchAttributeValue* out) {
  if (!out) return Error::InvalidValue;
  std::memset(out, 0, sizeof(*out));
  if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
    out->cooperative = node.launch.isCooperative ? 1 : 0;
    return Error::Success;
  }
  if (const auto kept = node.attributes.find(id); kept != node.attributes.end()) {
    std::memcpy(out, kept->second.data(), sizeof(*out));
    return Error::Success;
  }
  CUlaunchAttribute unset{};
  unset.id = static_cast<CUlaunchAttributeID>(id);
  if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) out->memSyncDomainMap.remote = 1;
  LaunchAttributes read;
  return readAttribute(unset, read);
}

Error setKernelNodeAttribute(core::KernelNode& node, int id, const CUlaunchAttributeValue* value) {
  if (!value) return Error::InvalidValue;
  CUlaunchAttribute attribute{};
  attribute.id = static_cast<CUlaunchAttributeID>(id);
  attribute.value = *value;
  LaunchAttributes read;
  TRY(readAttribute(attribute, read));
  if (!read.events.empty()) return Error::NotSupported;
  if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) node.launch.isCooperative = read.isCooperative;
  else std::memcpy(node.attributes[id].data(), value, sizeof(*value));
  return Error::Success;
}

}  // namespace mulciber::api
