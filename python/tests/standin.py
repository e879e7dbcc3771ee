"""Producers of DLPack capsules, made by hand: any device, version and flag, and a count of what was not given back."""

import ctypes

import numpy as np

i32, i64, u32, u64, pointer = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
DELETER = ctypes.CFUNCTYPE(None, pointer)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", pointer), ("device_type", i32), ("device", i32), ("rank", i32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(i64)), ("strides", ctypes.POINTER(i64)), ("offset", u64),
    ]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("owner", pointer), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", u32), ("minor", u32), ("owner", pointer), ("deleter", DELETER), ("flags", u64), ("tensor", Tensor)]


capsule_new = ctypes.pythonapi.PyCapsule_New
capsule_new.restype, capsule_new.argtypes = ctypes.py_object, [pointer, ctypes.c_char_p, pointer]
capsule_valid = ctypes.pythonapi.PyCapsule_IsValid
capsule_valid.argtypes = [pointer, ctypes.c_char_p]
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = pointer, [pointer, ctypes.c_char_p]
DESTRUCTOR = ctypes.PYFUNCTYPE(None, pointer)


class Producer:
    """A NumPy array as another library's. What is changed: the device, the version, the flags, the type's lanes."""

    def __init__(
        self,
        array,
        device=(1, 0),
        old=False,
        read_only=False,
        major=1,
        lanes=1,
        code=None,
        capsule=None,
        shape=None,
        mixed=False,
    ):
        self.array, self.device, self.old, self.read_only, self.major = array, device, old, read_only, major
        self.lanes, self.code, self.capsule, self.shape = lanes, code, capsule, shape or array.shape
        self.mixed = mixed
        self.calls, self.alive, self.kept = [], 0, []

    refused_streams = ()

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **keywords):
        if self.old and "max_version" in keywords:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.calls.append(keywords)
        if keywords.get("stream") in self.refused_streams:
            raise RuntimeError("invalid resource handle")
        if self.capsule is not None:
            return self.capsule
        array, name = self.array, array_code(self.array.dtype)
        managed = Managed() if self.old or self.mixed else Versioned()
        shape, strides = (i64 * array.ndim)(*self.shape), (i64 * array.ndim)(*(s // array.itemsize for s in array.strides))
        managed.tensor = Tensor(
            array.ctypes.data, *self.device, array.ndim, name if self.code is None else self.code, 8 * array.itemsize, self.lanes,
            shape, strides, 0,
        )  # fmt: skip
        if not (self.old or self.mixed):
            managed.major, managed.flags = self.major, int(self.read_only)
        label = b"dltensor" if self.old or self.mixed else b"dltensor_versioned"

        def delete(_):
            self.alive -= 1

        def destroy(capsule):
            if capsule_valid(capsule, label):
                delete(None)

        managed.deleter, destructor = DELETER(delete), DESTRUCTOR(destroy)
        self.kept.append((managed, shape, strides, destructor))
        self.alive += 1
        return capsule_new(ctypes.addressof(managed), label, ctypes.cast(destructor, pointer))


def array_code(dtype):
    return 4 if dtype.name == "bfloat16" else {"f": 2, "i": 0, "u": 1}[dtype.kind]


def bits(array):
    """The 16-bit words of a tandem.Array, whose bfloat16 NumPy can't take."""
    capsule = array.__dlpack__()
    tensor = Managed.from_address(capsule_pointer(id(capsule), b"dltensor")).tensor
    count = int(np.prod([tensor.shape[i] for i in range(tensor.rank)]))
    words = (ctypes.c_uint16 * count).from_address(tensor.data)
    return np.array(words, np.uint16).reshape([tensor.shape[i] for i in range(tensor.rank)])


class Immutable(Producer):
    """A library whose arrays can't be written, with the array API's from_dlpack."""

    def __init__(self, array):
        super().__init__(array, read_only=True)

    def __array_namespace__(self):
        class Namespace:
            @staticmethod
            def from_dlpack(other):
                return Immutable(np.from_dlpack(other))

        return Namespace
