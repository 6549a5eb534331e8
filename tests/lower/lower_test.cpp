#include "lower/lowered.h"

#include <gmock/gmock.h>

#include "translator/ir/printer.h"

namespace mulciber {
namespace {

using test::kernelText;
using test::lowerText;
using testing::HasSubstr;

TEST(Lower, CopiesAWordFromOneParameterToTheOther) {
  auto result = lowerText(kernelText(R"(
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    cvta.to.global.u64 %rd1, %rd1;
    ld.global.nc.v2.u32 {%r1, %r2}, [%rd1+8];
    st.global.u32 [%rd2], %r2;
  )",
                                     ".param .u64 in, .param .u64 out"));
  ASSERT_TRUE(result.program) << result.errors;
  EXPECT_EQ(ir::print(result.kernel()), R"(kernel @k {
  var v0 i64 "%rd1"
  var v1 i64 "%rd2"
  var v2 i32 "%r1"
  var v3 i32 "%r2"
b0:
  %0 = const i32 0
  %1 = load i64 %0 [param align 8]
  write v0, %1
  %2 = const i32 8
  %3 = load i64 %2 [param align 8]
  write v1, %3
  %4 = read i64 v0
  write v0, %4
  %5 = read i64 v0
  %6 = const i64 8
  %7 = add i64 %5, %6
  %8 = load <2 x i32> %7 [global readonly align 8]
  %9 = extract i32 %8, 0
  write v2, %9
  %10 = extract i32 %8, 1
  write v3, %10
  %11 = read i64 v1
  %12 = read i32 v3
  store %11, %12 [global align 4]
  ret
}
)");
}

// Each block is a cluster of its own, which a kernel that asks for larger ones must not get to see.
TEST(Lower, RefusesWhatTellsThatAClusterHasOneBlock) {
  auto errors = [](const std::string& directive, const std::string& instruction) {
    std::string text = kernelText(instruction);
    text.insert(text.find("{"), directive + "\n");
    return lowerText(text).errors;
  };
  for (const char* telling :
       {"mov.u32 %r1, %cluster_ctarank;", "mov.u32 %r1, %cluster_nctaid.x;", "mov.u32 %r1, %clusterid.y;",
        "mov.pred %p1, %is_explicit_cluster;", "mapa.shared::cluster.u32 %r1, %r2, 1;", "getctarank.u64 %r1, %rd2;",
        "barrier.cluster.arrive; barrier.cluster.wait;", "fence.acq_rel.cluster;",
        "ld.acquire.cluster.global.u32 %r1, [%rd1];"}) {
    EXPECT_EQ(errors("", telling), "") << telling;
    EXPECT_EQ(errors(".reqnctapercluster 1", telling), "") << telling;
    EXPECT_NE(errors(".reqnctapercluster 1, 2", telling).find("clusters of several blocks"), std::string::npos)
        << telling;
  }
  EXPECT_EQ(errors(".reqnctapercluster 2", "mov.u32 %r1, %ctaid.x; ld.relaxed.gpu.global.u32 %r2, [%rd1];"), "");
}

// What has no texel ends the thread, in functions too: their callers look at what they return last.
TEST(Lower, FunctionsWithTexturesAndSurfacesTellWhetherTheThreadHasEnded) {
  TargetProfile profile = test::fullProfile();
  profile.textures = profile.surfaces = true;
  for (const char* instruction :
       {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];", "txq.width.b32 %r1, [%rd1];",
        "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];", "suld.b.1d.b32.trap {%r1}, [%rd1, {%r2}];",
        "sust.p.2d.b32.trap [%rd1, {%r1, %r2}], {%r3};", "sured.b.add.1d.u32.trap [%rd1, {%r1}], %r2;",
        "suq.width.b32 %r1, [%rd1];"}) {
    const std::string function = std::string(".func (.param .b32 r) g() { .reg .f32 %f<5>; .reg .b32 %r<5>; ") +
                                 ".reg .b64 %rd1; " + instruction + " st.param.b32 [r], %r1; ret; }";
    const auto result = lowerText(kernelText("call (%r1), g;", ".param .u64 out", function), profile);
    ASSERT_TRUE(result.program) << instruction << result.errors;
    const ir::Function& lowered = *result.program->functions[1];
    ASSERT_EQ(lowered.returns.size(), 2u) << instruction;
    EXPECT_EQ(lowered.variables[lowered.returns[1]].type, ir::Bool) << instruction;
  }
}

// What passes/contraction may fuse. ptxas fuses neither what names its rounding nor anything for a debugger.
TEST(Lower, SaysWhichProductsAndSumsMayBeRoundedOnce) {
  auto contracts = [](const std::string& instruction, const std::string& targetOption = "") {
    std::string text = kernelText(instruction);
    if (const size_t target = text.find(".target "); !targetOption.empty())
      text.insert(text.find('\n', target), ", " + targetOption);
    auto result = lowerText(text);
    EXPECT_TRUE(result.program) << result.errors;
    return result.program && ir::print(result.kernel()).find("contract") != std::string::npos;
  };
  for (const char* both : {"mul.f32 %f1, %f2, %f3;", "add.ftz.f32 %f1, %f2, %f3;", "sub.f64 %fd1, %fd2, %fd3;"}) {
    EXPECT_TRUE(contracts(both)) << both;
    EXPECT_FALSE(contracts(both, "debug")) << both;
  }
  for (const char* none :
       {"mul.rn.f32 %f1, %f2, %f3;", "add.rz.f64 %fd1, %fd2, %fd3;", "fma.rn.f32 %f1, %f2, %f3, %f1;"})
    EXPECT_FALSE(contracts(none)) << none;
}

// Every form that the lowering has, once: each must be accepted and give IR that verifies.
class Form : public testing::TestWithParam<const char*> {};

TEST_P(Form, IsLowered) {
  auto result = lowerText(kernelText(GetParam(), ".param .u64 out, .param .align 16 .b8 block[64]", R"(
    .global .align 8 .u64 table[4] = {1, 2, 3, 4};
    .const .align 4 .u32 constants[4] = {1, 2, 3, 4};
    .shared .align 16 .b8 tile[256];
    .extern .shared .align 16 .b8 dynamic[];
  )"));
  EXPECT_TRUE(result.program) << result.errors;
}

const char* const controlForms[] = {
    "L: bra L;",
    "@%p1 bra L; mov.u32 %r1, 1; L:",
    "@!%p1 bra L; L:",
    "bra.uni L; L:",
    "T: .branchtargets A, B, C; brx.idx %r1, T; A: mov.u32 %r1, 1; B: mov.u32 %r1, 2; C:",
    "T: .branchtargets A; @%p1 brx.idx.uni %r1, T; A:",
    "@%p1 ret;",
    "exit;",
    "@%p1 exit;",
    "@%p1 trap;",
    "brkpt;",
    "nanosleep.u32 100;",
    "{ .reg .b32 %local; mov.b32 %local, 1; bra L; L: }",
};
INSTANTIATE_TEST_SUITE_P(Control, Form, testing::ValuesIn(controlForms));

const char* const moveForms[] = {
    "mov.u32 %r1, 5;",
    "mov.f32 %f1, 0f3F800000;",
    "mov.f64 %fd1, 0d3FF0000000000000;",
    "mov.b32 %r1, %f1;",
    "mov.b64 %rd1, {%r1, %r2};",
    "mov.b64 {%r1, %r2}, %rd1;",
    "mov.b64 {%r1, _}, %rd1;",
    "mov.b32 {%rs1, %rs2}, %r1;",
    "mov.b64 {%rs1, %rs2, %rs3, %rs4}, %rd1;",
    "mov.b128 %q1, {%rd1, %rd2};",
    "mov.b128 {%rd1, %rd2}, %q1;",
    "@%p1 mov.b64 {%r1, %r2}, %rd1;",
    "mov.pred %p1, %p2;",
    "mov.u64 %rd1, table;",
    "mov.u64 %rd1, table+8;",
    "mov.u64 %rd1, constants;",
    "mov.u32 %r1, tile;",
    "mov.u64 %rd1, dynamic;",
    "mov.b64 %rd1, block;",
    "mov.u32 %r1, %tid.y;",
    "mov.u32 %r1, %laneid;",
    "mov.u64 %rd1, %clock64;",
    "mov.u32 %r1, %clock;",
    "mov.u64 %rd1, %globaltimer;",
    "mov.u32 %r1, %envreg1;",
    "mov.u32 %r1, %lanemask_lt;",
    "mov.u32 %r1, %cluster_ctarank;",
    "mov.u32 %r1, %dynamic_smem_size;",
    "mov.pred %p1, %is_explicit_cluster;",
};
INSTANTIATE_TEST_SUITE_P(Move, Form, testing::ValuesIn(moveForms));

const char* const memoryForms[] = {
    "ld.global.u8 %r1, [%rd1];",
    "ld.global.s8 %rs1, [%rd1+1];",
    "ld.global.b8 %rd2, [%rd1];",
    "ld.global.f32 %f1, [%rd1];",
    "ld.global.b128 %q1, [%rd1];",
    "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
    "ld.global.v2.u8 {%rs1, %rs2}, [%rd1];",
    "ld.u32 %r1, [%rd1];",
    "ld.volatile.u32 %r1, [%rd1];",
    "ld.relaxed.gpu.global.u32 %r1, [%rd1];",
    "ld.acquire.sys.u32 %r1, [%rd1];",
    "ld.global.ca.L2::128B.u32 %r1, [%rd1];",
    "ld.global.nc.L1::no_allocate.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];",
    "ldu.global.f32 %f1, [%rd1];",
    "ld.shared.u32 %r1, [tile+4];",
    "ld.shared.u32 %r1, [%r2];",
    "ld.shared.u32 %r1, [%rd2+4];",
    "ld.shared.u32 %r1, [dynamic];",
    "ld.const.u32 %r1, [constants+4];",
    "ld.const.u32 %r1, [%rd1];",
    "ld.global.u64 %rd1, [table];",
    "ld.param.u64 %rd1, [out];",
    "ld.param.v4.f32 {%f1, %f2, %f3, %f4}, [block+16];",
    "mov.b64 %rd1, block; ld.param.u32 %r1, [%rd1+4];",
    "@%p1 ld.global.u32 %r1, [%rd1];",
    "st.global.u8 [%rd1], %r1;",
    "st.global.f64 [%rd1], %fd1;",
    "st.global.u32 [%rd1], 5;",
    "st.global.f32 [%rd1], 0f3F800000;",
    "st.release.gpu.global.u32 [%rd1], %r1;",
    "st.volatile.shared.u32 [tile], %r1;",
    "st.global.v2.f32 [%rd1], {%f1, %f2};",
    "st.shared.v4.u32 [tile], {%r1, 2, %r3, 4};",
    "@!%p1 st.u64 [%rd1], %rd2;",
    (".local .align 16 .b8 depot[32]; mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; st.local.u32 [%rd1+4], %r1; "
     "st.u32 [%rd2], %r1; ld.local.u32 %r1, [depot+8];"),
    "cvta.to.global.u64 %rd1, %rd2;",
    "cvta.shared.u64 %rd1, %rd2;",
    "cvta.to.shared.u64 %rd1, %rd2;",
    "cvta.const.u64 %rd1, %rd2;",
    "cvta.param.u64 %rd1, block;",
    "cvta.global.u64 %rd1, table;",
    "cvta.shared.u64 %rd1, tile;",
    "isspacep.global %p1, %rd1;",
    "isspacep.shared %p1, %rd1;",
    "isspacep.local %p1, %rd1;",
    "isspacep.const %p1, %rd1;",
    "isspacep.shared::cluster %p1, %rd1;",
    "mapa.shared::cluster.u32 %r1, %r2, 0;",
    "mapa.u64 %rd1, %rd2, %r1;",
    "getctarank.u64 %r1, %rd1;",
    "getctarank.shared::cluster.u32 %r1, %r2;",
    "prefetch.global.L2 [%rd1];",
    "prefetchu.L1 [%rd1];",
    "discard.global.L2 [%rd1], 128;",
    "applypriority.global.L2::evict_normal [%rd1], 128;",
    "createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;",
    "alloca.u64 %rd1, 64; cvta.local.u64 %rd1, %rd1;",
    "alloca.u64 %rd1, %rd2, 16;",
    "stacksave.u64 %rd1; stackrestore.u64 %rd1;",
};
INSTANTIATE_TEST_SUITE_P(Memory, Form, testing::ValuesIn(memoryForms));

const char* const atomicForms[] = {
    "atom.global.add.u32 %r1, [%rd1], %r2;",
    "atom.add.u32 %r1, [%rd1], 1;",
    "atom.shared.add.u32 _, [tile], %r2;",
    "atom.global.add.s32 %r1, [%rd1], %r2;",
    "atom.acq_rel.gpu.global.add.u64 %rd2, [%rd1], %rd3;",
    "atom.global.min.s64 %rd2, [%rd1], %rd3;",
    "atom.global.and.b32 %r1, [%rd1], %r2;",
    "atom.global.xor.b64 %rd2, [%rd1], %rd3;",
    "atom.global.exch.b32 %r1, [%rd1], %r2;",
    "atom.global.exch.b64 %rd2, [%rd1], %rd3;",
    "atom.global.cas.b32 %r1, [%rd1], %r2, %r3;",
    "atom.shared.cas.b64 %rd2, [%r1], %rd3, %rd4;",
    "atom.global.cas.b16 %rs1, [%rd1], %rs2, %rs3;",
    "atom.global.inc.u32 %r1, [%rd1], %r2;",
    "atom.global.dec.u32 %r1, [%rd1], %r2;",
    "atom.global.add.f32 %f1, [%rd1], %f2;",
    "atom.global.add.f64 %fd1, [%rd1], %fd2;",
    "atom.global.add.noftz.f16 %rs1, [%rd1], %rs2;",
    "atom.global.add.noftz.f16x2 %r1, [%rd1], %r2;",
    "atom.global.add.noftz.bf16 %rs1, [%rd1], %rs2;",
    "atom.global.add.noftz.bf16x2 %r1, [%rd1], %r2;",
    "atom.global.v2.f32.add {%f1, %f2}, [%rd1], {%f3, %f4};",
    "atom.global.v4.f16x2.add.noftz {%r1, %r2, %r3, %r4}, [%rd1], {%r5, %r6, %r7, %r8};",
    "atom.global.v2.f16.max.noftz {%rs1, %rs2}, [%rd1], {%rs3, %rs4};",
    "red.global.add.u32 [%rd1], %r1;",
    "red.relaxed.sys.global.max.u32 [%rd1], %r1;",
    "red.shared.or.b32 [tile+4], %r1;",
    "red.global.add.f32 [%rd1], %f1;",
    "red.add.noftz.bf16x2 [%rd1], %r1;",
    "fence.sc.cta;",
    "fence.acq_rel.gpu;",
    "membar.gl;",
    "membar.sys;",
    "membar.cta;",
    "fence.proxy.async;",
    "fence.mbarrier_init.release.cluster;",
};
INSTANTIATE_TEST_SUITE_P(Atomic, Form, testing::ValuesIn(atomicForms));

const char* const warpForms[] = {
    "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;",
    "shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, 0xffffffff;",
    "shfl.sync.down.b32 %f1, %f2, 16, 31, %r3;",
    "shfl.sync.bfly.b32 %r1|%p1, %r2, %r3, 0x1c1f, -1;",
    "shfl.sync.idx.b32 _|%p1, %r2, %r3, 31, -1;",
    "vote.sync.all.pred %p1, %p2, -1;",
    "vote.sync.any.pred %p1, !%p2, %r1;",
    "vote.sync.uni.pred %p1, %p2, %r1;",
    "vote.sync.ballot.b32 %r1, %p2, -1;",
    "match.any.sync.b32 %r1, %r2, -1;",
    "match.any.sync.b64 %r1, %rd2, %r3;",
    "match.all.sync.b32 %r1|%p1, %r2, -1;",
    "match.all.sync.b64 %r1, %rd2, -1;",
    "redux.sync.add.s32 %r1, %r2, -1;",
    "redux.sync.min.u32 %r1, %r2, %r3;",
    "redux.sync.xor.b32 %r1, %r2, -1;",
    "activemask.b32 %r1;",
    "elect.sync %r1|%p1, -1;",
    "elect.sync _|%p1, %r2;",
    "bar.warp.sync -1;",
    "bar.warp.sync %r1;",
    "bar.sync 0;",
    "bar.sync 1, 64;",
    "bar.sync %r1, %r2;",
    "bar.arrive 1, 64;",
    "bar.red.popc.u32 %r1, 0, %p1;",
    "bar.red.and.pred %p1, 0, !%p2;",
    "bar.red.or.pred %p1, 1, 64, %p2;",
    "barrier.sync 0;",
    "barrier.sync.aligned 1, 128;",
    "barrier.cta.sync.aligned 0;",
    "barrier.cta.red.popc.aligned.u32 %r1, 0, %p1;",
    "barrier.cluster.arrive; barrier.cluster.wait;",
    "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;",
    "griddepcontrol.wait; griddepcontrol.launch_dependents;",
};
INSTANTIATE_TEST_SUITE_P(Warp, Form, testing::ValuesIn(warpForms));

const char* const asyncForms[] = {
    "cp.async.ca.shared.global [tile], [%rd1], 4;",
    "cp.async.cg.shared.global [%r1+16], [%rd1], 16;",
    "cp.async.ca.shared.global [tile], [%rd1], 8, %r1;",
    "cp.async.ca.shared.global.L2::128B [tile], [%rd1], 4, %p1;",
    "cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;",
    "cp.async.mbarrier.arrive.shared.b64 [tile];",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [tile];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 64, [tile+128];",
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], %r1;",
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; cp.async.bulk.wait_group.read 1;",
    "mbarrier.init.shared.b64 [tile], 32;",
    "mbarrier.inval.shared.b64 [tile];",
    "mbarrier.arrive.shared.b64 %rd1, [tile];",
    "mbarrier.arrive.shared.b64 _, [tile], 2;",
    "mbarrier.arrive.release.cta.shared::cta.b64 %rd1, [%r1], %r2;",
    "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd1, [tile], 64;",
    "mbarrier.arrive.noComplete.shared.b64 %rd1, [tile], 1;",
    "mbarrier.arrive_drop.shared.b64 %rd1, [tile];",
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [tile], 16;",
    "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [tile], 16;",
    "mbarrier.test_wait.shared.b64 %p1, [tile], %rd1;",
    "mbarrier.test_wait.parity.shared.b64 %p1, [tile], 0;",
    "mbarrier.try_wait.shared::cta.b64 %p1, [tile], %rd1;",
    "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [tile], %r1, 100;",
    "mbarrier.pending_count.b64 %r1, %rd1;",
    "mbarrier.init.b64 [%rd1], 1;",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [tile], %r1, [tile+8];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [tile], %r1, [tile+8];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1], {%r2, %r3}, [%r4];",
};
INSTANTIATE_TEST_SUITE_P(Async, Form, testing::ValuesIn(asyncForms));

}  // namespace
}  // namespace mulciber
