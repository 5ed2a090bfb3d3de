"""What would be left of a folder if the power went now? What its program has had synced, and nothing else.

A program that is killed leaves to the kernel what it had written, a power cut does not. So the kernel is asked to stop it at
each fsync and fdatasync (seccomp's user notification: Linux 5.0 or newer, no rights needed); a thread syncs in its place and
keeps the books. Of a file stays the length that it had when its sync began, and of names those that the folder had when its
own did; where it is asked for, zeros stand behind what was synced last. That the folder is there, and that its files only grow,
is taken for granted.
"""

import ctypes
import fcntl
import os
import platform
import shutil
import struct
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from errno import ENOENT
from pathlib import Path

_SECCOMP, _FSYNC, _FDATASYNC = {"x86_64": (317, 74, 75), "aarch64": (277, 82, 83)}.get(platform.machine(), (-1, -1, -1))
_SET_MODE_FILTER, _NEW_LISTENER = 1, 8
_PR_SET_NO_NEW_PRIVS = 38
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTIFICATION = struct.Struct("QIIiIQ6Q")  # id, pid, flags, number, architecture, pointer, six arguments
_ANSWER = struct.Struct("QqiI")  # id, value, error, flags
_INSTRUCTION = struct.Struct("HBBI")
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_BLOCK = 4096
_NOTIFY, _ALLOW = 0x7FC00000, 0x7FFF0000


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


class Disk:
    """What is kept of a folder while programs write there; `aside`, on the same file system, is made for it."""

    def __init__(self, folder: Path, aside: Path) -> None:
        self._folder = folder
        self._aside = aside
        self._names: dict[str, int] = {}
        self._lengths: dict[int, int] = {}
        self._lock = threading.Lock()
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)

    def watch(self) -> None:
        """From here on this thread and the children that it will have are watched, until it ends. Raises `OSError`."""
        listener: Future[int] = Future()
        # Started before, or its own syncs would be stopped as well.
        threading.Thread(target=self._serve, args=(threading.current_thread(), listener), daemon=True).start()
        listener.set_result(_listen())

    def lose_power(self, zeros: bool = False) -> None:
        """Cut the folder, in which nothing writes any more, back to what was synced.

        `zeros`: of the file that was written to last the new length had come to the disk and what stands there had not, as file
        systems allow that put a file's length into their journal and not what is in it.
        """
        with self._lock:
            for path in self._folder.iterdir():
                path.unlink()
            for name, inode in self._names.items():
                kept = self._aside / str(inode)
                (self._folder / name).write_bytes(kept.read_bytes()[: self._lengths[inode]] if inode in self._lengths else b"")
            if zeros:
                with (self._folder / self._last_synced()).open("ab") as file:
                    file.write(bytes(_BLOCK - file.tell() % _BLOCK))

    def _last_synced(self) -> str:
        names = {inode: name for name, inode in self._names.items()}
        return next(names[inode] for inode in reversed(self._lengths) if inode in names)

    def _serve(self, watched: threading.Thread, listener: Future[int]) -> None:
        file = listener.result()
        while watched.is_alive():
            notification = bytearray(_NOTIFICATION.size)
            with suppress(FileNotFoundError):  # whoever asked is dead
                fcntl.ioctl(file, _RECEIVE, notification)
                asked, pid, _, call, _, _, number, *_ = _NOTIFICATION.unpack(notification)
                error = self._sync(Path(f"/proc/{pid}/fd/{number}"), os.fsync if call == _FSYNC else os.fdatasync)
                fcntl.ioctl(file, _SEND, bytearray(_ANSWER.pack(asked, 0, -error, 0)))

    def _sync(self, opened: Path, sync: Callable[[int], None]) -> int:
        """Sync what is open there; the number of the error, or 0."""
        with self._lock:
            try:
                path, found = opened.readlink(), opened.stat()
                names = {entry.name: entry.inode() for entry in os.scandir(path)} if path == self._folder else None
                file = os.open(opened, os.O_RDONLY)
                try:
                    sync(file)
                finally:
                    os.close(file)
                if names is not None:
                    self._names = names
                elif opened.is_file():
                    with suppress(FileExistsError):
                        (self._aside / str(found.st_ino)).hardlink_to(path)  # under whatever name, and even without one
                    self._lengths.pop(found.st_ino, None)  # the last to be synced is the last of them
                    self._lengths[found.st_ino] = found.st_size
            except OSError as failed:
                return failed.errno or ENOENT
        return 0


def _listen() -> int:
    """The file on which the kernel tells of each sync from here on."""
    libc = ctypes.CDLL(None, use_errno=True)
    instructions = b"".join(
        _INSTRUCTION.pack(*one)
        for one in (
            (_LOAD, 0, 0, 0),
            (_JUMP_IF_EQUAL, 1, 0, _FSYNC),
            (_JUMP_IF_EQUAL, 0, 1, _FDATASYNC),
            (_RETURN, 0, 0, _NOTIFY),
            (_RETURN, 0, 0, _ALLOW),
        )
    )
    program = _Program(len(instructions) // _INSTRUCTION.size, instructions)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    listener: int = libc.syscall(_SECCOMP, _SET_MODE_FILTER, _NEW_LISTENER, ctypes.byref(program))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "the kernel does not tell of syncs")
    return listener
