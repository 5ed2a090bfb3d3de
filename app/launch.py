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


def launcher(farewell: signal.Signals, namespace: bool = False, user: int | None = None) -> list[str]:
    """The words before a command that has this signal sent to it when the thread that starts it ends, however that ends.

    `namespace`: it runs within a user namespace in which root is nobody. `user`: it runs as this user.
    """
    who = "namespace" if namespace else "" if user is None else str(user)
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
        os.setgroups([])
        os.setgid(int(who))
        os.setuid(int(who))
    if sys.platform == "linux":  # last, for a change of user would clear it
        libc.prctl(_PR_SET_PDEATHSIG, int(farewell))
        if os.getppid() != int(parent):
            sys.exit("whoever started this is gone")
    # Python ignores both. A program is to meet the end of a pipe as usual; SIGXFSZ stays ignored, so that writing beyond a
    # limit of the size of files is for it what a full disk is, an error.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execvp(command[0], command)  # noqa: S606


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as failed:
        sys.exit(f"{sys.argv[4:5]}: {failed.strerror}")
