"""What a child of ours runs first: it becomes whom it is to be, asks to end with its parent, and turns into its program.

It is run by a Python of its own, and not between fork and exec of ours: a process that forks may have threads, and what one of
them holds at that moment, say the lock of an import, the child would wait for without end.
"""

import ctypes
import os
import signal
import sys

NOBODY = 65534  # the user and group of that name on every Linux
_CLONE_NEWUSER = 0x10000000
_PR_SET_PDEATHSIG = 1
_PR_SET_SECUREBITS, _NO_SETUID_FIXUP = 28, 4
_PR_CAP_AMBIENT, _RAISE = 47, 2
_CAPABILITIES_3 = 0x20080522
_DAC_OVERRIDE = 1


def launcher(farewell: signal.Signals, namespace: bool = False, user: int | None = None, enters_all: bool = False) -> list[str]:
    """The words before a command that has this signal sent to it when the thread that starts it ends, however that ends.

    `namespace`: it runs within a user namespace in which root is nobody. `user`: it runs as this user; `enters_all`: and may
    enter every folder, as root may.
    """
    who = "namespace" if namespace else "" if user is None else f"{user}+" if enters_all else str(user)
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(int(farewell)), who]


def main(parent: str, farewell: str, who: str, *command: str) -> None:
    """Turn into the command."""
    libc = ctypes.CDLL(None, use_errno=True)
    if who == "namespace":
        group = os.getegid()
        if libc.unshare(_CLONE_NEWUSER) != 0:
            sys.exit(f"no user namespace: {os.strerror(ctypes.get_errno())}")
        for name, text in (("setgroups", "deny"), ("uid_map", f"{NOBODY} 0 1"), ("gid_map", f"{NOBODY} {group} 1")):
            file = os.open(f"/proc/self/{name}", os.O_WRONLY)
            os.write(file, text.encode())
            os.close(file)
    elif who:
        if who.endswith("+"):
            _check(libc.prctl(_PR_SET_SECUREBITS, _NO_SETUID_FIXUP, 0, 0, 0))  # what root may outlives the change of user
        user = int(who.rstrip("+"))
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        if who.endswith("+"):
            _keep_only(libc, _DAC_OVERRIDE)
    if sys.platform == "linux":  # last, for a change of user would clear it
        libc.prctl(_PR_SET_PDEATHSIG, int(farewell))
        if os.getppid() != int(parent):
            sys.exit("whoever started this is gone")
    # Python ignores both. A program is to meet the end of a pipe as usual; SIGXFSZ stays ignored, so that writing beyond a
    # limit of the size of files is for it what a full disk is, an error.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execvp(command[0], command)  # noqa: S606


def _keep_only(libc: ctypes.CDLL, capability: int) -> None:
    """Of all that root may keep this one right, also through the program that is turned into. Raises OSError."""
    mask = 1 << capability
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
    rights = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)  # effective, permitted and inheritable, the low words first
    _check(libc.capset(header, rights))
    _check(libc.prctl(_PR_CAP_AMBIENT, _RAISE, capability, 0, 0))


def _check(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as failed:
        sys.exit(f"{sys.argv[4:5]}: {failed.strerror}")
