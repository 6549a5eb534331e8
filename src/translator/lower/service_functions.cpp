#include "translator/lower/service_functions.h"

#include <algorithm>
#include <cassert>

#include "translator/ptx/undefined.h"
#include "translator/ptx/verifier.h"

namespace mulciber::lower {
namespace {

// kernel_abi.h describes the memory these work on. __mulciber_printf_buffer and __mulciber_heap give its address.
constexpr std::string_view source = R"(
.version 8.0
.target sm_70
.address_size 64

.extern .func (.param .b64 address) __mulciber_printf_buffer();
.extern .func (.param .b64 address) __mulciber_heap();

// Finds out from the format how many bytes of arguments there are, and copies them into a record; then, going over the
// format once more, the strings that %s names: they may lie where the host cannot read, or be gone when it prints. A
// string that others change in the meantime still ends within its record.
.visible .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments)
{
  .reg .pred %p, %q;
  .reg .b32 %char, %bytes, %count, %isLong, %record, %used, %capacity, %end, %index, %word;
  .reg .b32 %isCopying, %strings, %left;
  .reg .b64 %format, %text, %arguments, %buffer, %to, %from, %offset;

  ld.param.b64 %format, [format];
  ld.param.b64 %arguments, [arguments];
  mov.b32 %count, -1;
  setp.eq.u64 %p, %format, 0;
  @%p bra done;
  mov.b32 %isCopying, 0;
  mov.b32 %strings, 0;

start:
  mov.b32 %count, 0;
  mov.b32 %bytes, 0;
  mov.b64 %text, %format;

scan:
  ld.u8 %char, [%text];
  add.u64 %text, %text, 1;
  setp.eq.u32 %p, %char, 0;
  @%p bra counted;
  setp.ne.u32 %p, %char, 37;            // '%'
  @%p bra scan;
  mov.b32 %isLong, 0;

specification:
  ld.u8 %char, [%text];
  add.u64 %text, %text, 1;
  setp.eq.u32 %p, %char, 0;
  @%p bra counted;
  setp.eq.u32 %p, %char, 37;
  @%p bra scan;
  setp.eq.u32 %p, %char, 42;            // '*': a width or precision from the arguments
  @%p bra star;
  setp.eq.u32 %p, %char, 108;           // 'l'
  @%p mov.b32 %isLong, 1;
  @%p bra specification;
  setp.eq.u32 %p, %char, 104;           // 'h'
  @%p bra specification;
  setp.lt.u32 %p, %char, 65;            // flags, digits, '.'
  @%p bra specification;
  setp.eq.u32 %p, %char, 115;           // 's'
  @%p bra string;
  setp.eq.u32 %p, %char, 112;           // 'p'
  @%p bra wide;
  and.b32 %word, %char, -33;            // upper case
  setp.ge.u32 %p, %word, 69;            // 'E', 'F', 'G', 'A'
  setp.le.u32 %q, %word, 71;
  and.pred %p, %p, %q;
  @%p bra wide;
  setp.eq.u32 %p, %word, 65;
  @%p bra wide;
  setp.ne.u32 %p, %isLong, 0;
  @%p bra wide;
  add.u32 %bytes, %bytes, 4;
  add.u32 %count, %count, 1;
  bra scan;

wide:
  add.u32 %bytes, %bytes, 15;           // on the next multiple of 8
  and.b32 %bytes, %bytes, -8;
  add.u32 %count, %count, 1;
  bra scan;

star:
  add.u32 %bytes, %bytes, 4;
  add.u32 %count, %count, 1;
  bra specification;

string:
  add.u32 %bytes, %bytes, 15;
  and.b32 %bytes, %bytes, -8;
  add.u32 %count, %count, 1;
  cvt.u64.u32 %offset, %bytes;
  add.u64 %from, %arguments, %offset;
  ld.u64 %from, [%from+-8];
  setp.eq.u64 %p, %from, 0;
  @%p bra scan;
  mov.b32 %index, 1023;                 // the longest one
  setp.ne.u32 %p, %isCopying, 0;
  @%p bra copyString;

measure:
  add.u32 %strings, %strings, 1;
  setp.eq.u32 %p, %index, 0;
  @%p bra scan;
  ld.u8 %char, [%from];
  add.u64 %from, %from, 1;
  sub.u32 %index, %index, 1;
  setp.ne.u32 %p, %char, 0;
  @%p bra measure;
  bra scan;

copyString:
  setp.eq.u32 %p, %left, 0;
  @%p bra scan;
  sub.u32 %left, %left, 1;
  mov.b32 %char, 0;
  setp.eq.u32 %p, %left, 0;
  @%p bra copyCharacter;
  setp.eq.u32 %p, %index, 0;
  @%p bra copyCharacter;
  ld.u8 %char, [%from];

copyCharacter:
  st.global.u8 [%to], %char;
  add.u64 %to, %to, 1;
  add.u64 %from, %from, 1;
  sub.u32 %index, %index, 1;
  setp.ne.u32 %p, %char, 0;
  @%p bra copyString;
  bra scan;

counted:
  setp.ne.u32 %p, %isCopying, 0;
  @%p bra done;
  call (%buffer), __mulciber_printf_buffer, ();
  setp.eq.u64 %p, %buffer, 0;
  @%p bra done;
  add.u32 %record, %bytes, %strings;
  add.u32 %record, %record, 23;         // with the header, rounded up
  and.b32 %record, %record, -8;
  ld.global.u32 %capacity, [%buffer];
  // It changes nothing, and is no load: a loop that is left by one, or by the addition of 0, waits for its writer.
  atom.relaxed.gpu.global.max.s32 %used, [%buffer+4], -2147483648;
  setp.gt.u32 %p, %used, %capacity;     // full: the counter must not wrap
  @%p bra done;
  atom.global.add.u32 %used, [%buffer+4], %record;
  add.u32 %end, %used, %record;
  setp.gt.u32 %p, %end, %capacity;
  @%p bra done;
  cvt.u64.u32 %offset, %used;
  add.u64 %to, %buffer, %offset;
  st.global.u32 [%to+8], %record;
  st.global.u32 [%to+12], %bytes;
  st.global.u64 [%to+16], %format;
  add.u64 %to, %to, 24;
  mov.b32 %index, 0;

copy:
  setp.ge.u32 %p, %index, %bytes;
  @%p bra copied;
  cvt.u64.u32 %offset, %index;
  add.u64 %from, %arguments, %offset;
  ld.u32 %word, [%from];
  add.u64 %from, %to, %offset;
  st.global.u32 [%from], %word;
  add.u32 %index, %index, 4;
  bra copy;

copied:
  setp.eq.u32 %p, %strings, 0;
  @%p bra done;
  cvt.u64.u32 %offset, %bytes;
  add.u64 %to, %to, %offset;
  mov.b32 %left, %strings;
  mov.b32 %isCopying, 1;
  bra start;

done:
  st.param.b32 [result], %count;
  ret;
}

// Sizes are rounded up to a class: four in each power of two. Freed blocks are kept in one list for each class, whose
// head is (changes << 40 | offset / 16), so that a head that left and came back is not mistaken for the old one. A
// block begins with the next one's offset / 16 and its class.
.visible .func (.param .b64 result) malloc(.param .b64 size)
{
  .reg .pred %p;
  .reg .b32 %exponent, %step, %class, %part;
  .reg .b64 %heap, %size, %last, %bytes, %list, %head, %next, %new, %seen, %block, %limit, %offset;

  ld.param.b64 %size, [size];
  mov.b64 %block, 0;
  call (%heap), __mulciber_heap, ();
  setp.eq.u64 %p, %heap, 0;
  @%p bra done;
  setp.eq.u64 %p, %size, 0;
  @%p bra done;
  ld.global.u64 %limit, [%heap];
  setp.gt.u64 %p, %size, %limit;
  @%p bra done;
  add.u64 %size, %size, 31;             // with the header
  and.b64 %size, %size, -16;
  sub.u64 %last, %size, 1;
  clz.b64 %exponent, %last;
  sub.u32 %exponent, 63, %exponent;
  sub.u32 %step, %exponent, 2;
  shr.u64 %bytes, %last, %step;
  cvt.u32.u64 %part, %bytes;
  and.b32 %part, %part, 3;
  mad.lo.u32 %class, %exponent, 4, %part;
  add.u64 %bytes, %bytes, 1;
  shl.b64 %bytes, %bytes, %step;
  mul.wide.u32 %list, %class, 8;
  add.u64 %list, %list, %heap;
  ld.relaxed.gpu.global.u64 %head, [%list+16];

pop:
  and.b64 %offset, %head, 0xFFFFFFFFFF;
  setp.eq.u64 %p, %offset, 0;
  @%p bra grow;
  shl.b64 %block, %offset, 4;
  add.u64 %block, %block, %heap;
  ld.relaxed.gpu.global.u64 %next, [%block];
  and.b64 %next, %next, 0xFFFFFFFFFF;
  shr.u64 %new, %head, 40;
  add.u64 %new, %new, 1;
  shl.b64 %new, %new, 40;
  or.b64 %new, %new, %next;
  atom.acq_rel.gpu.global.cas.b64 %seen, [%list+16], %head, %new;
  setp.eq.u64 %p, %seen, %head;
  mov.b64 %head, %seen;
  @!%p bra pop;
  bra found;

grow:
  mov.b64 %block, 0;
  ld.relaxed.gpu.global.u64 %offset, [%heap+8];
  add.u64 %offset, %offset, %bytes;
  setp.gt.u64 %p, %offset, %limit;
  @%p bra done;
  atom.relaxed.gpu.global.add.u64 %offset, [%heap+8], %bytes;
  add.u64 %next, %offset, %bytes;
  setp.gt.u64 %p, %next, %limit;
  @%p bra undo;
  add.u64 %block, %heap, %offset;
  bra found;

undo:
  neg.s64 %bytes, %bytes;
  red.relaxed.gpu.global.add.u64 [%heap+8], %bytes;
  bra done;

found:
  st.relaxed.gpu.global.u32 [%block+8], %class;
  add.u64 %block, %block, 16;

done:
  st.param.b64 [result], %block;
  ret;
}

.visible .func free(.param .b64 pointer)
{
  .reg .pred %p;
  .reg .b32 %class;
  .reg .b64 %heap, %block, %offset, %list, %head, %next, %new, %seen;

  ld.param.b64 %block, [pointer];
  setp.eq.u64 %p, %block, 0;
  @%p bra done;
  call (%heap), __mulciber_heap, ();
  sub.u64 %block, %block, 16;
  ld.relaxed.gpu.global.u32 %class, [%block+8];
  mul.wide.u32 %list, %class, 8;
  add.u64 %list, %list, %heap;
  sub.u64 %offset, %block, %heap;
  shr.u64 %offset, %offset, 4;
  ld.relaxed.gpu.global.u64 %head, [%list+16];

push:
  and.b64 %next, %head, 0xFFFFFFFFFF;
  st.relaxed.gpu.global.u64 [%block], %next;
  shr.u64 %new, %head, 40;
  add.u64 %new, %new, 1;
  shl.b64 %new, %new, 40;
  or.b64 %new, %new, %offset;
  atom.acq_rel.gpu.global.cas.b64 %seen, [%list+16], %head, %new;
  setp.eq.u64 %p, %seen, %head;
  mov.b64 %head, %seen;
  @!%p bra push;

done:
  ret;
}

// A handle is the address of the value.
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
  .reg .b64 %handle;
  .reg .b32 %value;

  ld.param.b64 %handle, [handle];
  ld.param.b32 %value, [value];
  st.global.u32 [%handle], %value;
  ret;
}

// Cooperative groups of before CUDA 11, and what libcudadevrt.a makes of them. A handle is the address of the launch's
// workspace, 0 where the launch is not cooperative. 999 is cudaErrorUnknown.
.visible .func (.param .b64 handle) __cuda_syscall_CGS_get_intrinsic_handle(.param .b32 scope)
{
  .reg .pred %p;
  .reg .b32 %scope, %low, %high;
  .reg .b64 %handle;

  ld.param.b32 %scope, [scope];
  mov.u32 %high, %envreg1;
  mov.u32 %low, %envreg2;
  mov.b64 %handle, {%low, %high};
  setp.ne.u32 %p, %scope, 1;            // cudaCGScopeGrid
  @%p mov.b64 %handle, 0;
  st.param.b64 [handle], %handle;
  ret;
}

// Called by all threads of each block, or, with bit 0 of the flags, by one whose block waits for it. One thread of each
// block arrives: the arrivals add up to 2^31, so the last one changes the uppermost bit.
.visible .func (.param .b32 result) __cuda_syscall_CGS_sync(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p, %isAlone;
  .reg .b32 %flags, %x, %y, %z, %arrival, %before, %now;
  .reg .b64 %barrier;

  ld.param.b64 %barrier, [handle];
  ld.param.b32 %flags, [flags];
  st.param.b32 [result], 999;
  setp.eq.u64 %p, %barrier, 0;
  @%p ret;
  add.u64 %barrier, %barrier, 4;
  and.b32 %flags, %flags, 1;
  setp.ne.u32 %isAlone, %flags, 0;
  @%isAlone bra arrive;
  bar.sync 0;
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  mov.u32 %z, %tid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.ne.u32 %p, %x, 0;
  @%p bra arrived;

arrive:
  mov.u32 %x, %nctaid.x;
  mov.u32 %y, %nctaid.y;
  mov.u32 %z, %nctaid.z;
  mul.lo.u32 %arrival, %x, %y;
  mul.lo.u32 %arrival, %arrival, %z;
  sub.u32 %arrival, 0x80000001, %arrival;
  mov.u32 %x, %ctaid.x;
  mov.u32 %y, %ctaid.y;
  mov.u32 %z, %ctaid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.ne.u32 %p, %x, 0;
  @%p mov.b32 %arrival, 1;
  atom.add.release.gpu.global.u32 %before, [%barrier], %arrival;

look:
  ld.acquire.gpu.global.u32 %now, [%barrier];
  xor.b32 %now, %now, %before;
  setp.ge.s32 %p, %now, 0;
  @%p bra look;

arrived:
  st.param.b32 [result], 0;
  @%isAlone ret;
  bar.sync 0;
  ret;
}

// Of a grid, and of the grids that were launched together, of which there is one: zeros where there is none to tell
// of. A null pointer takes no number.
.visible .func (.param .b32 result) __cuda_syscall_CGS_get_size(
  .param .b64 threads, .param .b64 grids, .param .b64 handle)
{
  .reg .pred %p, %isGrid;
  .reg .b32 %threads, %grids, %factor, %result;
  .reg .b64 %to, %handle;

  mov.u32 %threads, %ntid.x;
  mov.u32 %factor, %ntid.y;
  mul.lo.u32 %threads, %threads, %factor;
  mov.u32 %factor, %ntid.z;
  mul.lo.u32 %threads, %threads, %factor;
  mov.u32 %factor, %nctaid.x;
  mul.lo.u32 %threads, %threads, %factor;
  mov.u32 %factor, %nctaid.y;
  mul.lo.u32 %threads, %threads, %factor;
  mov.u32 %factor, %nctaid.z;
  mul.lo.u32 %threads, %threads, %factor;
  ld.param.b64 %handle, [handle];
  setp.ne.u64 %isGrid, %handle, 0;
  selp.b32 %threads, %threads, 0, %isGrid;
  selp.b32 %grids, 1, 0, %isGrid;
  ld.param.b64 %to, [threads];
  setp.ne.u64 %p, %to, 0;
  @%p st.u32 [%to], %threads;
  ld.param.b64 %to, [grids];
  setp.ne.u64 %p, %to, 0;
  @%p st.u32 [%to], %grids;
  selp.b32 %result, 0, 999, %isGrid;
  st.param.b32 [result], %result;
  ret;
}

// The rank of the one grid is 1 natively.
.visible .func (.param .b32 result) __cuda_syscall_CGS_get_rank(
  .param .b64 thread, .param .b64 grid, .param .b64 handle)
{
  .reg .pred %p, %isGrid;
  .reg .b32 %rank, %grid, %count, %place, %result;
  .reg .b64 %to, %handle;

  mov.u32 %rank, %ctaid.z;
  mov.u32 %count, %nctaid.y;
  mov.u32 %place, %ctaid.y;
  mad.lo.u32 %rank, %rank, %count, %place;
  mov.u32 %count, %nctaid.x;
  mov.u32 %place, %ctaid.x;
  mad.lo.u32 %rank, %rank, %count, %place;
  mov.u32 %count, %ntid.z;
  mov.u32 %place, %tid.z;
  mad.lo.u32 %rank, %rank, %count, %place;
  mov.u32 %count, %ntid.y;
  mov.u32 %place, %tid.y;
  mad.lo.u32 %rank, %rank, %count, %place;
  mov.u32 %count, %ntid.x;
  mov.u32 %place, %tid.x;
  mad.lo.u32 %rank, %rank, %count, %place;
  ld.param.b64 %handle, [handle];
  setp.ne.u64 %isGrid, %handle, 0;
  selp.b32 %rank, %rank, 0, %isGrid;
  ld.param.b64 %to, [thread];
  setp.ne.u64 %p, %to, 0;
  @%p st.u32 [%to], %rank;
  selp.b32 %grid, 1, 0, %isGrid;
  ld.param.b64 %to, [grid];
  setp.ne.u64 %p, %to, 0;
  @%p st.u32 [%to], %grid;
  selp.b32 %result, 0, 999, %isGrid;
  st.param.b32 [result], %result;
  ret;
}

// What a program calls without libcudadevrt.a's PTX, which has it for few targets.
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b32 %scope;
  .reg .b64 %handle;

  ld.param.b32 %scope, [scope];
  call (%handle), __cuda_syscall_CGS_get_intrinsic_handle, (%scope);
  st.param.b64 [handle], %handle;
  ret;
}

.visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .b32 %flags, %result;
  .reg .b64 %handle;

  ld.param.b64 %handle, [handle];
  ld.param.b32 %flags, [flags];
  call (%result), __cuda_syscall_CGS_sync, (%handle, %flags);
  st.param.b32 [result], %result;
  ret;
}

.visible .func (.param .b32 result) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags)
{
  .reg .b32 %result;
  .reg .b64 %handle;

  ld.param.b64 %handle, [handle];
  call (%result), __cuda_syscall_CGS_sync, (%handle, 0);
  st.param.b32 [result], %result;
  ret;
}

.visible .func (.param .b32 result) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle)
{
  .reg .pred %p;
  .reg .b32 %result;
  .reg .b64 %threads, %grids, %handle;

  ld.param.b64 %threads, [threads];
  ld.param.b64 %grids, [grids];
  ld.param.b64 %handle, [handle];
  call (%result), __cuda_syscall_CGS_get_size, (%threads, %grids, %handle);
  st.param.b32 [result], %result;
  ret;
}

.visible .func (.param .b32 result) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle)
{
  .reg .pred %p;
  .reg .b32 %result;
  .reg .b64 %thread, %grid, %handle;

  ld.param.b64 %thread, [thread];
  ld.param.b64 %grid, [grid];
  ld.param.b64 %handle, [handle];
  call (%result), __cuda_syscall_CGS_get_rank, (%thread, %grid, %handle);
  st.param.b32 [result], %result;
  ret;
}
)";

const ptx::Module& services() {
  static const std::unique_ptr<ptx::ModuleHolder> holder = [] {
    Diagnostics diagnostics;
    auto parsed = ptx::parse(source, "services", diagnostics);
    const bool isGood = parsed && ptx::verify(parsed->module, parsed->source, diagnostics);
    assert(isGood && "the services are good PTX");
    return isGood ? std::move(parsed) : std::make_unique<ptx::ModuleHolder>();
  }();
  return holder->module;
}

}  // namespace

const ptx::Function* findServiceFunction(std::string_view name) {
  if (!ptx::isProvidedFunction(name)) return nullptr;  // most programs need no services
  const ptx::Function* function = services().findFunction(name);
  return function && function->isDefined ? function : nullptr;
}

bool isServiceFunction(const ptx::Function& function) { return findServiceFunction(function.name) == &function; }

}  // namespace mulciber::lower
