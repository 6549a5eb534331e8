#!/usr/bin/env python3
"""NVML's library tells of each device what `mulciber info` does, and refuses what it cannot tell.

usage: nvml_test.py MULCIBER LIBNVIDIA_ML
"""
import ctypes
import json
import subprocess
import sys

SUCCESS, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, NOT_FOUND, INSUFFICIENT_SIZE, VERSION_MISMATCH = 0, 1, 2, 3, 6, 7, 25
failures = 0


class Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class Memory2(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint)] + [(name, ctypes.c_ulonglong) for name in ("total", "reserved", "free", "used")]


class PciInfo(ctypes.Structure):
    _fields_ = ([("busIdLegacy", ctypes.c_char * 16)]
                + [(name, ctypes.c_uint) for name in ("domain", "bus", "device", "pciDeviceId", "pciSubSystemId")]
                + [("busId", ctypes.c_char * 32)])


def same(what, found, expected):
    global failures
    failures += found != expected
    print(f"{'right' if found == expected else 'wrong'}: {what}" + ("" if found == expected else f": {found} and not {expected}"))


def main():
    mulciber, path = sys.argv[1:]
    devices = json.loads(subprocess.run([mulciber, "info", "--json"], capture_output=True, text=True, check=True).stdout)["devices"]
    nvml = ctypes.CDLL(path)
    count, device, other = ctypes.c_uint(), ctypes.c_void_p(), ctypes.c_void_p()
    text = ctypes.create_string_buffer(96)

    same("before it is initialised", nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)), UNINITIALIZED)
    same("shut down before", nvml.nvmlShutdown(), UNINITIALIZED)
    same("initialised twice", (nvml.nvmlInit_v2(), nvml.nvmlInitWithFlags(0)), (SUCCESS, SUCCESS))
    same("shut down once", nvml.nvmlShutdown(), SUCCESS)
    same("the devices", (nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)), count.value), (SUCCESS, len(devices)))
    same("one too many", nvml.nvmlDeviceGetHandleByIndex_v2(len(devices), ctypes.byref(device)), INVALID_ARGUMENT)
    same("a handle that is none", nvml.nvmlDeviceGetName(ctypes.c_void_p(64), text, 96), INVALID_ARGUMENT)
    version = ctypes.c_int()
    same("CUDA's version", (nvml.nvmlSystemGetCudaDriverVersion(ctypes.byref(version)), version.value // 1000), (SUCCESS, 13))
    same("the driver's version", (nvml.nvmlSystemGetDriverVersion(text, 96), text.value != b""), (SUCCESS, True))
    for number, expected in enumerate(devices):
        same("its handle", nvml.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(device)), SUCCESS)
        same("its name", (nvml.nvmlDeviceGetName(device, text, 96), text.value.decode()), (SUCCESS, expected["name"]))
        same("its name in too little room", nvml.nvmlDeviceGetName(device, text, 3), INSUFFICIENT_SIZE)
        major, minor = ctypes.c_int(), ctypes.c_int()
        same("its capability", (nvml.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor)),
                                10 * major.value + minor.value), (SUCCESS, expected["computeCapability"]))
        same("its UUID", (nvml.nvmlDeviceGetUUID(device, text, 96), text.value[:4], len(text.value)), (SUCCESS, b"GPU-", 40))
        same("by its UUID", (nvml.nvmlDeviceGetHandleByUUID(text, ctypes.byref(other)), other.value), (SUCCESS, device.value))
        same("by another UUID", nvml.nvmlDeviceGetHandleByUUID(b"GPU-0", ctypes.byref(other)), NOT_FOUND)
        pci = PciInfo()
        same("its place", nvml.nvmlDeviceGetPciInfo_v3(device, ctypes.byref(pci)), SUCCESS)
        same("in two forms", pci.busId, b"0000" + pci.busIdLegacy)
        other.value = None
        same("by its place", (nvml.nvmlDeviceGetHandleByPciBusId_v2(pci.busId, ctypes.byref(other)), other.value is not None), (SUCCESS, True))
        memory, memory2 = Memory(), Memory2()
        same("its memory", (nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)), memory.total, memory.free + memory.used),
             (SUCCESS, expected["totalMemory"], expected["totalMemory"]))
        same("in another layout", nvml.nvmlDeviceGetMemoryInfo_v2(device, ctypes.byref(memory2)), VERSION_MISMATCH)
        memory2.version = ctypes.sizeof(Memory2) | 2 << 24
        same("its memory again", (nvml.nvmlDeviceGetMemoryInfo_v2(device, ctypes.byref(memory2)), memory2.total), (SUCCESS, memory.total))
        value = ctypes.c_uint(77)
        same("its temperature", (nvml.nvmlDeviceGetTemperature(device, 0, ctypes.byref(value)), value.value), (NOT_SUPPORTED, 77))
    same("shut down", nvml.nvmlShutdown(), SUCCESS)
    same("afterwards", nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)), UNINITIALIZED)
    sys.exit(failures != 0)


main()
