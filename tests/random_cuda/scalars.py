"""The scalar types of generated programs, their literals, and the table of operations on them."""


class Scalar:
    def __init__(self, name, bits, kind):
        self.name, self.bits, self.kind = name, bits, kind

    def __str__(self):
        return self.name

    is_float = property(lambda self: self.kind == "float")
    is_signed = property(lambda self: self.kind == "signed")
    # The unsigned type that arithmetic is done in, because overflow of signed numbers is undefined.
    carrier = property(lambda self: "u32" if self.bits <= 32 else "u64" if self.bits == 64 else "u128")


def _types():
    for bits in (8, 16, 32, 64, 128):
        yield Scalar(f"i{bits}", bits, "signed")
        yield Scalar(f"u{bits}", bits, "unsigned")
    for name, bits in (("f32", 32), ("f64", 64), ("f16", 16), ("bf16", 16)):
        yield Scalar(name, bits, "float")


TYPES = {type.name: type for type in _types()}
BOOL = Scalar("bool", 1, "bool")
INTEGERS = [type for type in TYPES.values() if not type.is_float]
COMMON = ["i32"] * 4 + ["u32"] * 6 + ["i64", "u64"] * 3 + ["f32"] * 3 + ["f64"] * 2 + ["u8", "i8", "u16", "i16"]

_SPECIAL = [0, 1, 2, 3, 4, 5, 7, 8, 10, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 1000, 32767, 32768, 65535, 65536]
_SPECIAL_FLOATS = ["0.0", "-0.0", "1.0", "-1.0", "0.5", "0.1", "-2.5", "3.0", "1e6", "-1e-6", "16777216.0", "65504.0",
                   "2147483648.0", "-4294967296.0", "9.2233720368547758e18", "1.17549435e-38", "255.5", "0.99999994"]


def literal(choice, type):
    if type is BOOL:
        return choice.of(["true", "false"])
    if type.is_float:
        text = choice.of(_SPECIAL_FLOATS)
        if choice.percent(30):
            text = f"{choice.between(-9999, 9999)}.{choice.below(1000):03d}"
        return f"({text}f)" if type.name == "f32" else f"({text})" if type.name == "f64" else f"to_{type}({text}f)"
    kind = choice.below(4)
    value = choice.of(_SPECIAL)
    if kind == 0:
        value = choice.word() | choice.word() << 64
    elif kind == 1:
        value = choice.of([1 << (type.bits - 1), (1 << (type.bits - 1)) - 1, (1 << type.bits) - 1, -2])
    value &= (1 << type.bits) - 1
    if type.bits == 128:
        return f"({type})join128(0x{value >> 64:x}ull, 0x{value & (1 << 64) - 1:x}ull)"
    return f"({type})0x{value:x}{'u' if type.bits <= 32 else 'ull'}"


def _integer_operations():
    for type in INTEGERS:
        t, c, top = type.name, type.carrier, type.bits - 1
        rare = 1 if type.bits == 128 else 2
        for operator, weight in (("+", 6), ("-", 5), ("*", 4), ("&", 3), ("|", 3), ("^", 4)):
            yield weight, t, f"({t})(({c}){{0}} {operator} ({c}){{1}})", (t, t)
        yield 3, t, f"({t})(({c}){{0}} << ({{1}} & {top}))", (t, "u32")
        yield 3, t, f"({t})({{0}} >> ({{1}} & {top}))", (t, "u32")
        yield rare, t, f"quotient<{t}>({{0}}, {{1}})", (t, t)
        yield rare, t, f"modulo<{t}>({{0}}, {{1}})", (t, t)
        yield 1, t, f"({t})~{{0}}", (t,)
        yield 1, t, f"({t})(0 - ({c}){{0}})", (t,)
        yield 2, t, f"({t}){{0}}", ("bool",)
        yield 1, t, f"least<{t}>({{0}}, {{1}})", (t, t)
        yield 1, t, f"greatest<{t}>({{0}}, {{1}})", (t, t)
        for other in INTEGERS:
            if other is not type:
                yield 1 if other.bits < 32 or other.bits > 64 else 2, t, f"({t}){{0}}", (other.name,)
        for comparison in ("<", "<=", ">", ">=", "==", "!="):
            yield 3 if t in ("u32", "i32") else 1, "bool", f"({{0}} {comparison} {{1}})", (t, t)
    yield 6, "bool", "({0} && {1})", ("bool", "bool")
    yield 6, "bool", "({0} || {1})", ("bool", "bool")
    yield 4, "bool", "!{0}", ("bool",)
    yield 5, "bool", "(({0} & 1) != 0)", ("u32",)
    yield 3, "bool", "(({0} & 7) == 5)", ("u32",)


def _selections():
    for type in TYPES.values():
        yield 2, type.name, f"({{0}} ? {{1}} : {{2}})", ("bool", type.name, type.name)


_ROUNDINGS = ("rn", "rz", "ru", "rd")


def _float_operations():
    for t, s, integers in (("f32", "f", {"i32": "int", "u32": "uint", "i64": "ll", "u64": "ull"}),
                           ("f64", "d", {"i32": "int", "u32": "uint", "i64": "ll", "u64": "ull"})):
        name = "float" if t == "f32" else "double"
        suffix = "f" if t == "f32" else ""
        for operator, weight in (("+", 8), ("-", 7), ("*", 7), ("/", 3)):
            yield weight * 2, t, f"({{0}} {operator} {{1}})", (t, t)
        for rounding in _ROUNDINGS:
            for operation in ("add", "sub", "mul", "div"):
                yield 1, t, f"__{s}{operation}_{rounding}({{0}}, {{1}})", (t, t)
            yield 1, t, f"__{'fmaf' if t == 'f32' else 'fma'}_{rounding}({{0}}, {{1}}, {{2}})", (t, t, t)
            yield 1, t, f"__{s}rcp_{rounding}({{0}})", (t,)
            yield 1, t, f"__{s}sqrt_{rounding}({{0}})", (t,)
            for i, word in integers.items():
                yield 1, i, f"__{name}2{word}_{rounding}({{0}})", (t,)
                if not (t == "f64" and "32" in i):
                    yield 1, t, f"__{word}2{name}_{rounding}({{0}})", (i,)
        for i in integers:
            yield 2, t, f"({t}){{0}}", (i,)
        yield 1, t, f"({t}){{0}}", ("i16",)
        yield 1, t, f"({t}){{0}}", ("u8",)
        yield 6, t, "settle({0})", (t,)
        yield 3, t, f"fma{suffix}({{0}}, {{1}}, {{2}})", (t, t, t)
        for function in ("sqrt", "floor", "ceil", "trunc", "rint", "round", "fabs"):
            yield 1, t, f"{function}{suffix}({{0}})", (t,)
        yield 2, t, "(-{0})", (t,)
        yield 1, t, f"copysign{suffix}({{0}}, canon({{1}}))", (t, t)
        # Which zero a minimum of both gives is left open.
        yield 1, t, f"(fmin{suffix}({{0}}, {{1}}) + 0)", (t, t)
        yield 1, t, f"(fmax{suffix}({{0}}, {{1}}) + 0)", (t, t)
        yield 1, t, f"fdim{suffix}({{0}}, {{1}})", (t, t)
        yield 1, t, f"ldexp{suffix}({{0}}, (i32)({{1}} & 63) - 32)", (t, "u32")
        yield 1, "bool", "isnan({0})", (t,)
        yield 1, "bool", "isinf({0})", (t,)
        yield 1, "bool", "(bool)signbit(canon({0}))", (t,)
        for comparison in ("<", "<=", ">", ">=", "==", "!="):
            yield 2, "bool", f"({{0}} {comparison} {{1}})", (t, t)
        word = "u32" if t == "f32" else "u64"
        yield 3, word, "bits({0})", (t,)
        yield 3, t, f"{t}_of({{0}})", (word,)
    yield 3, "f64", "(f64){0}", ("f32",)
    yield 1, "f32", "__saturatef({0})", ("f32",)
    for rounding in _ROUNDINGS:
        yield 1, "f32", f"__double2float_{rounding}({{0}})", ("f64",)
    yield 1, "i32", "__double2hiint(canon({0}))", ("f64",)
    yield 1, "f64", "settle(__hiloint2double({0}, {1}))", ("i32", "i32")


def _half_operations():
    for t, word in (("f16", "half"), ("bf16", "bfloat16")):
        for function in ("__hadd_rn", "__hsub_rn", "__hmul_rn"):
            yield 5, t, f"{function}({{0}}, {{1}})", (t, t)
        yield 3, t, "__hfma({0}, {1}, {2})", (t, t, t)
        yield 1, t, "__hneg({0})", (t,)
        yield 1, t, "__habs({0})", (t,)
        for rounding in _ROUNDINGS:
            yield 2, t, f"__float2{word}_{rounding}({{0}})", ("f32",)
            yield 1, t, f"__int2{word}_{rounding}({{0}})", ("i32",)
            yield 1, t, f"__ull2{word}_{rounding}({{0}})", ("u64",)
            yield 1, "i32", f"__{word}2int_{rounding}({{0}})", (t,)
            yield 1, "u32", f"__{word}2uint_{rounding}({{0}})", (t,)
            yield 1, "i64", f"__{word}2ll_{rounding}({{0}})", (t,)
        yield 8, "f32", f"__{word}2float({{0}})", (t,)
        for comparison in ("lt", "le", "gt", "ge", "eq", "neu", "ltu", "equ"):
            yield 1, "bool", f"__h{comparison}({{0}}, {{1}})", (t, t)
        yield 2, "u16", "bits({0})", (t,)
        yield 2, t, f"{t}_of({{0}})", ("u16",)
        yield 2, t, f"{t}_pair({{0}}, {{1}}, {{2}})", (t, t, t)


_BITS = """
u32 __brev u32|i32 __clz i32|i32 __ffs i32|i32 __popc u32|u64 __brevll u64|i32 __clzll i64|i32 __ffsll i64|i32 __popcll u64
u32 __byte_perm u32 u32 u32|u32 __funnelshift_l u32 u32 u32|u32 __funnelshift_r u32 u32 u32
u32 __funnelshift_lc u32 u32 u32|u32 __funnelshift_rc u32 u32 u32
i32 __dp4a i32 i32 i32|u32 __dp4a u32 u32 u32|i32 __dp2a_lo i32 i32 i32|u32 __dp2a_hi u32 u32 u32
i32 __mulhi i32 i32|u32 __umulhi u32 u32|i64 __mul64hi i64 i64|u64 __umul64hi u64 u64|i32 __mul24 i32 i32
u32 __umul24 u32 u32|u32 __sad i32 i32 u32|u32 __usad u32 u32 u32|i32 __hadd i32 i32|i32 __rhadd i32 i32
u32 __uhadd u32 u32|u32 __urhadd u32 u32
u32 prmt_f4e u32 u32 u32|u32 prmt_b4e u32 u32 u32|u32 prmt_rc8 u32 u32 u32|u32 prmt_ecl u32 u32 u32
u32 prmt_ecr u32 u32 u32|u32 prmt_rc16 u32 u32 u32|u32 bfe u32 u32 u32|i32 bfe i32 u32 u32|u64 bfe u64 u32 u32
i64 bfe i64 u32 u32|u32 bfi u32 u32 u32 u32|u64 bfi u64 u64 u32 u32|u32 bfind u32|u32 bfind i32|u32 bfind u64
u32 bfind i64|u32 bfind_shift u32|u32 bmsk_clamp u32 u32|u32 bmsk_wrap u32 u32|u32 szext_clamp u32 u32
i32 szext_wrap i32 u32|u32 lop3<0x6a> u32 u32 u32|u32 lop3<0x1d> u32 u32 u32|u32 lop3<0xb1> u32 u32 u32
u32 add_carry u32 u32 u32 u32|u32 sub_borrow u32 u32 u32 u32|u32 mad_carry u32 u32 u32 u32|u64 mul_wide u32 u32
i64 mul_wide i32 i32|u64 mad_wide u32 u32 u64|i64 mad_wide i32 i32 i64|i32 mad_hi_s32 i32 i32 i32
i32 add_sat i32 i32|i32 sub_sat i32 i32|i8 saturate_i8 i32|u8 saturate_u8 i32|i16 saturate_i16 i64|u16 saturate_u16 i32
u32 saturate_u32 i64|i32 saturate_i32 i64|i32 saturate_i32 u64|i16 saturate_i16 f32|u8 saturate_u8 f32
u16 saturate_u16 f64|i8 saturate_i8 f64
i32 video_add i32 u32 i32|i32 video_sub u32 i32 i32|u32 video_absdiff i32 u32 u32|i32 video_max i32 u32 i32
i32 video_mad u32 i32 i32|u32 video_shl u32 u32 u32|u32 video_set i32 u32 u32
u32 __vimax3_u32 u32 u32 u32|i32 __vimin3_s32 i32 i32 i32|i32 __viaddmax_s32 i32 i32 i32|u32 __viaddmin_u32 u32 u32 u32
u32 __vimax3_s16x2 u32 u32 u32|u32 __viaddmin_u16x2 u32 u32 u32|i32 __vimax_s32_relu i32 i32
"""
_SIMD = ("vadd vsub vaddss vaddus vsubss vsubus vavgs vavgu vhaddu vabsdiffs vabsdiffu vmaxs vmaxu vmins vminu vcmpeq "
         "vcmpges vcmpgeu vcmpgts vcmpgtu vcmples vcmpleu vcmplts vcmpltu vcmpne vseteq vsetges vsetgeu vsetgts vsetgtu "
         "vsetles vsetleu vsetlts vsetltu vsetne vsads vsadu")


def _bit_operations():
    for entry in _BITS.replace("\n", "|").split("|"):
        if entry:
            result, function, *operands = entry.split()
            yield 1, result, f"{function}({', '.join(f'{{{i}}}' for i in range(len(operands)))})", tuple(operands)
    for function in _SIMD.split():
        for width in "24":
            yield 1, "u32", f"__{function}{width}({{0}}, {{1}})", ("u32", "u32")
    for function in ("vabs", "vabsss", "vneg", "vnegss"):
        for width in "24":
            yield 1, "u32", f"__{function}{width}({{0}})", ("u32",)


def operations(available):
    """For each result type the (weight, (template, operand types)) whose types are all available."""
    table = {name: [] for name in [*TYPES, "bool"]}
    for make, share in ((_integer_operations, 6), (_selections, 6), (_float_operations, 4), (_half_operations, 4), (_bit_operations, 2)):
        for weight, result, template, operands in make():
            if all(o == "bool" or o in available for o in (result, *operands)):
                table[result].append((weight * share, (template, operands)))
    return table
