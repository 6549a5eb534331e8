/* CUDA inside an engine: contexts on the engine's own Vulkan device, kernels in the engine's own command buffers, and
   memory that both reach. docs/engine.md is the guide, engine.hpp the same for C++.

   Handles are used by one thread at a time, but for a context's: any number of threads may use that, and record into
   different command buffers. Pointers given to a function are read before it returns, unless it says otherwise. No
   function uses a queue that was not given, none waits for work of the engine's, and what records never waits. */
#ifndef MULCIBER_ENGINE_H
#define MULCIBER_ENGINE_H

#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of mulciberGetEngineVersion(). Functions and members are only ever added; structures hold their size. */
#define MULCIBER_ENGINE_VERSION 3u
uint32_t mulciberGetEngineVersion(void);

typedef enum MulciberResult {
  MULCIBER_SUCCESS = 0,
  MULCIBER_ERROR_INVALID_ARGUMENT = 1,
  MULCIBER_ERROR_MISSING_FEATURE = 2, /* the device was made without something that is required */
  MULCIBER_ERROR_WRONG_QUEUE = 3,     /* a queue of a family that does not compute, or that the device has not */
  MULCIBER_ERROR_OUT_OF_MEMORY = 4,
  MULCIBER_ERROR_NOT_FOUND = 5,      /* no kernel or variable of that name */
  MULCIBER_ERROR_INVALID_CODE = 6,   /* PTX that cannot be read or translated */
  MULCIBER_ERROR_NEEDS_HOST = 7,     /* a kernel or a graph that needs the host, in an engine's command buffer */
  MULCIBER_ERROR_WRONG_STATE = 8,    /* a recording that has ended, a command buffer that is being recorded already */
  MULCIBER_ERROR_IN_USE = 9,         /* something else still uses what was to be destroyed */
  MULCIBER_ERROR_KERNEL_FAILED = 10, /* an assertion, a trap, a bad address: the context is of no use any more */
  MULCIBER_ERROR_DEVICE_LOST = 11,
  MULCIBER_ERROR_NOT_SUPPORTED = 12,
  MULCIBER_ERROR_UNKNOWN = 13
} MulciberResult;

/* One sentence about the calling thread's last failure, valid until its next call. */
const char* mulciberGetErrorMessage(void);

typedef struct MulciberRequirements_T* MulciberRequirements;
typedef struct MulciberContext_T* MulciberContext;
typedef struct MulciberModule_T* MulciberModule;
typedef struct MulciberKernel_T* MulciberKernel;
typedef struct MulciberStream_T* MulciberStream;
typedef struct MulciberGraph_T* MulciberGraph;
typedef struct MulciberImage_T* MulciberImage;
typedef struct MulciberRecording_T* MulciberRecording;

/* ---- Before the engine makes its device ---- */

/* No extension of instances is needed. The instance's and the device's version must be at least this. */
#define MULCIBER_VULKAN_VERSION VK_API_VERSION_1_3

typedef struct MulciberPhysicalDevice {
  size_t structSize;   /* sizeof(MulciberPhysicalDevice) */
  uint32_t apiVersion; /* VkApplicationInfo::apiVersion of the instance */
  VkInstance instance;
  VkPhysicalDevice physicalDevice;
  PFN_vkGetInstanceProcAddr getInstanceProcAddr; /* the only way to Vulkan that is used */
} MulciberPhysicalDevice;

typedef struct MulciberFeature {
  const char* name;      /* of Vulkan's: "bufferDeviceAddress" */
  const char* extension; /* that has it; null where it is part of Vulkan */
  VkBool32 isRequired;
  VkBool32 isPresent; /* the physical device has it */
} MulciberFeature;

/* MULCIBER_ERROR_MISSING_FEATURE when the physical device lacks what every context needs; the message names it all. */
MulciberResult mulciberCreateRequirements(const MulciberPhysicalDevice* physicalDevice, MulciberRequirements* out);
void mulciberDestroyRequirements(MulciberRequirements requirements);

/* All features that are used. The array lives as long as the requirements. */
MulciberResult mulciberGetFeatures(MulciberRequirements requirements, uint32_t* count, const MulciberFeature** out);
/* Device extensions that are used and that the physical device has; none is required. */
MulciberResult mulciberGetExtensions(MulciberRequirements requirements, uint32_t* count, const char* const** out);

/* Adds all that is used and present to what the engine asks for itself: extensions to the list, switches to the
   structures in the pNext chain, and structures to the chain where they are missing. pEnabledFeatures moves into the
   chain. What is added lives as long as the requirements. */
MulciberResult mulciberAddToDevice(MulciberRequirements requirements, VkDeviceCreateInfo* info);

/* ---- Contexts ---- */

/* A queue that the context may submit to. Where the engine uses it from other threads too, `lock` and `unlock` are
   called around each use; else they are null. */
typedef struct MulciberQueue {
  VkQueue queue;
  uint32_t family;
  void (*lock)(void* user);
  void (*unlock)(void* user);
  void* user;
} MulciberQueue;

/* With these the engine allocates all of the context's device memory itself (from version 3 on). `allocate` calls
   vkAllocateMemory with `info` and its chain as they are, or gives VK_ERROR_OUT_OF_DEVICE_MEMORY: then the call that
   needed the memory fails with MULCIBER_ERROR_OUT_OF_MEMORY, and nothing is lost. Any thread that uses the context may
   call them, and mulciberDestroyContext() gives all back. The context maps what the host can see. */
typedef struct MulciberMemoryCallbacks {
  VkResult (*allocate)(void* user, const VkMemoryAllocateInfo* info, VkDeviceMemory* out);
  void (*free)(void* user, VkDeviceMemory memory);
  void* user;
} MulciberMemoryCallbacks;

typedef enum MulciberContextFlags {
  /* Starts none. Work of streams goes to the queue with each call; what a stream needs a thread for is not supported:
     functions of the host and conditional nodes of the CUDA libraries. */
  MULCIBER_CONTEXT_NO_THREADS = 1,
  MULCIBER_CONTEXT_NO_DISK = 2 /* keeps no compiled kernels on disk */
} MulciberContextFlags;

typedef struct MulciberContextInfo {
  size_t structSize; /* sizeof(MulciberContextInfo) */
  MulciberPhysicalDevice physicalDevice;
  VkDevice device;
  /* What `device` was made with: Vulkan does not tell which features and extensions a device has. */
  const VkDeviceCreateInfo* deviceInfo;
  /* Of a family that computes, one at least: contexts use them when they are made, and streams. */
  uint32_t queueCount;
  const MulciberQueue* queues;
  const VkAllocationCallbacks* allocationCallbacks; /* may be null; must stay valid */
  VkBufferUsageFlags bufferUsage; /* what the engine uses the context's memory for: VK_BUFFER_USAGE_VERTEX_BUFFER_BIT */
  uint32_t flags;                 /* MulciberContextFlags */
  const MulciberMemoryCallbacks* memoryCallbacks; /* may be null; read by mulciberCreateContext() (from version 3 on) */
} MulciberContextInfo;

/* Runs some small shaders, unless their results are on disk, and waits for them. */
MulciberResult mulciberCreateContext(const MulciberContextInfo* info, MulciberContext* out);
/* All that was recorded must have run. Waits for the context's streams, and destroys all that it made: its modules,
   streams, recordings and memory. */
MulciberResult mulciberDestroyContext(MulciberContext context);
/* Whether a kernel has failed, of those known to have ended. Waits for nothing. */
MulciberResult mulciberCheck(MulciberContext context);
/* The same context for the CUDA libraries, as cuCtxSetCurrent takes it once cuInit was called. */
void* mulciberGetCudaContext(MulciberContext context);

/* ---- Memory ---- */

typedef struct MulciberBufferRange {
  VkBuffer buffer;
  VkDeviceSize offset, size; /* up to the end of the allocation */
} MulciberBufferRange;

/* Memory of the device. Addresses are CUDA's device pointers and Vulkan's buffer addresses in one. */
MulciberResult mulciberAllocate(MulciberContext context, size_t bytes, VkDeviceAddress* out);
/* Only work of streams may still use it: the call waits for that work. */
MulciberResult mulciberFree(MulciberContext context, VkDeviceAddress address);
/* Where the memory at an address, anywhere in an allocation, lies for Vulkan. */
MulciberResult mulciberGetBuffer(MulciberContext context, VkDeviceAddress address, MulciberBufferRange* out);
/* Makes a piece of the engine's buffer known, so that copies may name it. The buffer has the usages
   VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT and VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, is bound, and lives until
   mulciberFree(). Kernels may be given addresses of buffers that are not known. */
MulciberResult mulciberWrapBuffer(MulciberContext context, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size,
                                  VkDeviceAddress* out);

/* ---- Images (from version 2 on) ---- */

/* The engine's image as a CUDA mipmapped array. It has one sample, optimal tiling, a format that CUDA has, and was made
   with VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT and the usages SAMPLED, TRANSFER_SRC and TRANSFER_DST, for surfaces STORAGE
   too; `info` is what it was made with. It has memory, and lives until mulciberUnwrapImage(). Whenever work of the
   context's uses it, it is in layout VK_IMAGE_LAYOUT_GENERAL and belongs to that work's queue family: no layout is ever
   changed here. Barriers name it, or all memory, as those of buffers do. */
MulciberResult mulciberWrapImage(MulciberContext context, VkImage image, const VkImageCreateInfo* info,
                                 MulciberImage* out);
/* Waits for streams; nothing recorded may still have to use it. Its textures and surfaces go with it. */
MulciberResult mulciberUnwrapImage(MulciberImage image);
/* A CUmipmappedArray for the CUDA libraries, which do not destroy it. */
void* mulciberGetCudaMipmappedArray(MulciberImage image);

typedef enum MulciberTextureFlags {
  MULCIBER_TEXTURE_LINEAR = 1,                 /* between texels and levels, too */
  MULCIBER_TEXTURE_NORMALIZED_COORDINATES = 2, /* 0 to 1; images of several levels have no others */
  MULCIBER_TEXTURE_INTEGERS = 4 /* of 8- and 16-bit integers: else kernels read floats from -1 or 0 to 1 */
} MulciberTextureFlags;

typedef struct MulciberTextureInfo {
  size_t structSize; /* sizeof(MulciberTextureInfo) */
  uint32_t flags;    /* MulciberTextureFlags */
  VkSamplerAddressMode addressModes[3];
} MulciberTextureInfo;

/* What kernels take as cudaTextureObject_t and cudaSurfaceObject_t. A surface is of one level. */
MulciberResult mulciberCreateTexture(MulciberImage image, const MulciberTextureInfo* info, uint64_t* out);
MulciberResult mulciberCreateSurface(MulciberImage image, uint32_t level, uint64_t* out);

typedef struct MulciberImageLevel {
  VkImage image; /* in layout GENERAL, for good */
  uint32_t level;
  VkImageView view; /* of the level and all its layers, for sampling; it lives as long as the array */
  VkFormat viewFormat;
} MulciberImageLevel;

/* Where a CUarray that the CUDA libraries made in the context lies for Vulkan. */
MulciberResult mulciberGetImage(MulciberContext context, void* cudaArray, MulciberImageLevel* out);

/* ---- Code ---- */

/* PTX text, or what `mulciber translate --library` has made of it: then nothing is translated, and kernels that run in
   blocks of one size alone (.reqntid) are compiled. MULCIBER_ERROR_MISSING_FEATURE where the device suits none of the
   profiles that it was made for; the message names what keeps it. Variables are written before the call returns. */
MulciberResult mulciberLoadModule(MulciberContext context, const void* code, size_t bytes, MulciberModule* out);
/* Nothing that was recorded with its kernels may still have to run. */
MulciberResult mulciberUnloadModule(MulciberModule module);
/* Lives as long as the module. */
MulciberResult mulciberGetKernel(MulciberModule module, const char* name, MulciberKernel* out);
MulciberResult mulciberGetVariable(MulciberModule module, const char* name, VkDeviceAddress* address, size_t* bytes);

typedef struct MulciberLaunch {
  uint32_t grid[3], block[3];
  uint32_t sharedBytes;   /* dynamic shared memory */
  void* const* arguments; /* a pointer to each, as cuLaunchKernel takes them ... */
  const void* packed;     /* ... or, where not null, all as the kernel lays them out */
  size_t packedBytes;
} MulciberLaunch;

/* Compiles the kernel for launches of that block and shared memory, and makes ready what it needs: later launches of
   the shape take no time for that. The arguments are not looked at. */
MulciberResult mulciberPrepareKernel(MulciberKernel kernel, const MulciberLaunch* shape);

/* ---- Streams: the context submits ---- */

MulciberResult mulciberCreateStream(MulciberContext context, MulciberStream* out);
MulciberResult mulciberDestroyStream(MulciberStream stream);
MulciberResult mulciberLaunch(MulciberStream stream, MulciberKernel kernel, const MulciberLaunch* launch);
/* Between memory of the device that the context knows, and memory of the host: with that, the call waits until it has
   been read or written. */
MulciberResult mulciberCopy(MulciberStream stream, uint64_t destination, uint64_t source, size_t bytes);
/* `valueBytes` is 1, 2 or 4. */
MulciberResult mulciberFill(MulciberStream stream, VkDeviceAddress destination, uint32_t value, uint32_t valueBytes,
                            size_t count);
MulciberResult mulciberSynchronizeStream(MulciberStream stream);
/* What follows in the stream waits until the engine's timeline semaphore has the value, and so may all that is given to
   the stream's queue later: by other streams, by mulciberLoadModule(), by the engine. So the work that raises it has
   been submitted before, where the queue is the same. */
MulciberResult mulciberWaitSemaphore(MulciberStream stream, VkSemaphore semaphore, uint64_t value);
/* Raises the engine's timeline semaphore once all in the stream so far is done. */
MulciberResult mulciberSignalSemaphore(MulciberStream stream, VkSemaphore semaphore, uint64_t value);
/* The end of all in the stream so far, for the engine to wait for: a timeline semaphore, which stays the context's, and
   a value that it will reach. */
MulciberResult mulciberGetStreamEnd(MulciberStream stream, VkSemaphore* semaphore, uint64_t* value);

/* ---- Graphs: work put together once (from version 2 on) ---- */

/* Between the two, what the stream is given by the functions above becomes a graph, and is not done. A copy reads
   memory of the host when the graph runs. */
MulciberResult mulciberBeginCapture(MulciberStream stream);
MulciberResult mulciberEndCapture(MulciberStream stream, MulciberGraph* out);
/* For a CUgraphExec that the CUDA libraries made in the context. What they change of it counts from the next time on.
 */
MulciberResult mulciberGetGraph(MulciberContext context, void* cudaGraph, MulciberGraph* out);
/* The work that was launched or recorded may still have to run; its modules and memory stay the engine's to keep. */
MulciberResult mulciberDestroyGraph(MulciberGraph graph);
/* After all in the stream, and after the graph's last launch, wherever that was. */
MulciberResult mulciberLaunchGraph(MulciberStream stream, MulciberGraph graph);

/* ---- Recording: the engine submits ---- */

/* All that is recorded is compute shaders that use memory by address; there are no transfer commands. For the engine's
   barriers: */
#define MULCIBER_STAGES VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT
#define MULCIBER_READS (VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_UNIFORM_READ_BIT)
#define MULCIBER_WRITES VK_ACCESS_2_SHADER_WRITE_BIT

typedef enum MulciberRecordingFlags {
  MULCIBER_RECORDING_BARRIER_BEFORE = 1, /* comes after all that the engine has recorded or submitted before */
  MULCIBER_RECORDING_BARRIER_AFTER = 2,  /* what the engine records after it comes after all of it */
  MULCIBER_RECORDING_UNORDERED = 4       /* its pieces may overlap, but for mulciberRecordBarrier() */
} MulciberRecordingFlags;

typedef struct MulciberRecordingInfo {
  size_t structSize; /* sizeof(MulciberRecordingInfo) */
  VkCommandBuffer commandBuffer;
  uint32_t queueFamily; /* that the command buffer is for */
  uint32_t flags;       /* MulciberRecordingFlags */
  uint64_t frame;       /* whose end mulciberRetireFrames() will tell */
} MulciberRecordingInfo;

/* The command buffer is in the recording state, outside a render pass. From here to mulciberEndRecording() the engine
   binds no compute pipeline, sets no push constants and pushes no descriptors in it. Afterwards the compute pipeline,
   the descriptor sets 0 and 1 of the compute bind point and all push constants are undefined; nothing else is touched.
   Without the flags no barrier is set towards what the engine records. */
MulciberResult mulciberBeginRecording(MulciberContext context, const MulciberRecordingInfo* info,
                                      MulciberRecording* out);
/* The handle must not be used afterwards. */
MulciberResult mulciberEndRecording(MulciberRecording recording);
MulciberResult mulciberRecordLaunch(MulciberRecording recording, MulciberKernel kernel, const MulciberLaunch* launch);
/* Between addresses of the device that do not overlap. */
MulciberResult mulciberRecordCopy(MulciberRecording recording, VkDeviceAddress destination, VkDeviceAddress source,
                                  size_t bytes);
MulciberResult mulciberRecordFill(MulciberRecording recording, VkDeviceAddress destination, uint32_t value,
                                  uint32_t valueBytes, size_t count);
/* All of a graph, with barriers along its edges alone; nothing orders it with its launches elsewhere (from version 2
   on). MULCIBER_ERROR_NEEDS_HOST, and nothing is recorded, where it has functions of the host, events, waits, memory
   nodes, copies with the host or of arrays, or kernels that print, allocate or are launched cooperatively. */
MulciberResult mulciberRecordGraph(MulciberRecording recording, MulciberGraph graph);
/* All that is recorded later comes after all that was recorded before. */
MulciberResult mulciberRecordBarrier(MulciberRecording recording);
/* The command buffers of all frames up to this number have run, or never will: what their launches needed beyond
   registers and push constants is used again. */
MulciberResult mulciberRetireFrames(MulciberContext context, uint64_t frame);

#ifdef __cplusplus
}
#endif

#endif
