"""The Dockerfile without a container engine: its steps in a bare Debian, then its server in what they made.

    python -m tests.deploy.image                 (as root; debootstrap brings the Debian)
    python -m tests.deploy.image --keep /var/tmp/image

What a container has not, this has not either: packages of this machine, the rights of root, files that may be written.
"""

import argparse
import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import httpx2
from sqlalchemy import make_url

from app.embedded import running
from tests.deploy.dockerfile import ROOT, Stage, Step, context, read

PATIENCE = 60  # seconds after which something hangs; never a measure of speed
TELLS_PIP = ("PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT", "http_proxy", "https_proxy", "no_proxy")
MISSING = "debootstrap is missing, which brings the bare Debian: apt-get install debootstrap"


class Wrong(Exception):
    """The image is not as it must be; the message says in what."""


@dataclass(slots=True)
class Image:
    """A root file system in the making, and what its Dockerfile has set so far."""

    root: Path
    folder: str = "/"
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"})
    user: str = "0:0"
    steps: list[Step] = field(default_factory=list)

    def build(self, stage: Stage, others: dict[str, "Image"]) -> None:
        """Do what the stage says."""
        for step in stage.steps:
            print(f"    {step.word} {step.rest[:110]}", flush=True)
            match step.word:
                case "RUN":
                    self._run(step.rest)
                case "COPY":
                    self._copy(step, others)
                case "WORKDIR":
                    self.folder = step.rest
                    self._at(".").mkdir(parents=True, exist_ok=True)
                case "ENV":
                    self.environment |= step.pairs
                case "USER":
                    self.user = step.rest
                case _:
                    self.steps.append(step)

    def of(self, word: str) -> Step:
        """The last of what only matters once it runs: CMD, HEALTHCHECK, STOPSIGNAL."""
        return [step for step in self.steps if step.word == word][-1]

    def inside(self, words: list[str], environment: dict[str, str], sealed: bool = False) -> list[str]:
        """The command that runs these words there, as process 1 and as the image's user. Sealed: only /tmp may be written."""
        root = shlex.quote(str(self.root))
        user, group = self.user.split(":")
        mounts = [
            f"mount --bind {root} {root}",
            f"mount --rbind /dev {root}/dev",
            f"mount -t proc proc {root}/proc",
            f"mount -t tmpfs -o mode=1777 tmpfs {root}/tmp",
            *([f"mount -o remount,ro,bind {root}"] if sealed else []),
        ]
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
        variables = [f"{name}={value}" for name, value in (self.environment | environment).items()]
        become = ["setpriv", "--reuid", user, "--regid", group, "--clear-groups"]
        if user != "0":
            become += ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
        enter = [
            "chroot",
            str(self.root),
            "/usr/bin/env",
            "--ignore-environment",
            f"--chdir={self.folder}",
            *variables,
            *become,
        ]
        return [*apart, "sh", "-c", " && ".join([*mounts, 'exec "$@"']), "sh", *enter, *words]

    def _run(self, script: str) -> None:
        """RUN, with this machine's way to the registries, of which nothing stays."""
        own, kept = self.root / "etc/resolv.conf", self.root / "etc/resolv.conf.kept"
        told = {name: os.environ[name] for name in TELLS_PIP if name in os.environ}
        own.rename(kept)
        shutil.copy("/etc/resolv.conf", own)
        certificates = self.root / "run/certificates.pem"
        if given := os.environ.get("PIP_CERT"):
            shutil.copy(given, certificates)
            told["PIP_CERT"] = "/run/certificates.pem"
        done = subprocess.run(
            self.inside(["/bin/sh", "-c", script], told | {"DEBIAN_FRONTEND": "noninteractive"}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        certificates.unlink(missing_ok=True)
        kept.rename(own)
        if done.returncode != 0:
            raise Wrong(f"RUN {script}\n{done.stdout}")

    def _copy(self, step: Step, others: dict[str, "Image"]) -> None:
        *sources, target = step.rest.split()
        origin = others[step.options["from"]].root if "from" in step.options else ROOT
        given = None if "from" in step.options else set(context())
        for source in sources:
            found = origin / source.lstrip("/")
            goal = self._at(target)
            if found.is_dir():
                shutil.copytree(found, goal, symlinks=True, dirs_exist_ok=True, ignore=_leaving_out(found, origin, given))
            elif given is not None and Path(source) not in given:
                raise Wrong(f"COPY {source}: .dockerignore does not let it in")
            else:
                shutil.copy(found, goal / found.name if goal.is_dir() else goal)

    def _at(self, path: str) -> Path:
        return self.root / os.path.normpath(Path(self.folder, path)).lstrip("/")


def _leaving_out(top: Path, origin: Path, given: set[Path] | None) -> Callable[[str, list[str]], list[str]]:
    """What of a folder is not given to the build."""

    def ignored(folder: str, names: list[str]) -> list[str]:
        if given is None:
            return []
        here = Path(folder).relative_to(origin)
        return [name for name in names if not any(path.is_relative_to(here / name) for path in given)]

    return ignored


def build(work: Path) -> Image:
    """The last stage of the Dockerfile, built under this folder. Raises `Wrong`."""
    bases: dict[str, Path] = {}
    images: dict[str, Image] = {}
    for number, stage in enumerate(read()):
        if stage.base not in bases:
            bases[stage.base] = _debian(stage.base, work)
        image = images[stage.name or str(number)] = Image(work / f"stage{number}")
        print(f"  FROM {stage.base}", flush=True)
        shutil.rmtree(image.root, ignore_errors=True)
        subprocess.run(["cp", "--archive", "--reflink=auto", bases[stage.base], image.root], check=True)
        image.build(stage, images)
    return image


def _debian(base: str, work: Path) -> Path:
    """A bare Debian of the release that `debian:RELEASE-slim` names."""
    release = base.removeprefix("debian:").removesuffix("-slim")
    root = work / release
    if not (root / "etc/debian_version").exists():
        print(f"  debootstrap {release}", flush=True)
        draft = work / f"{release}.new"
        shutil.rmtree(draft, ignore_errors=True)
        made = ["debootstrap", "--variant=minbase", release, str(draft)]
        done = subprocess.run(made, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Wrong(done.stdout)
        draft.rename(root)
    return root


# --- what was built --------------------------------------------------------------------------------------------------


async def check(image: Image) -> None:
    """It serves as it is meant to be run. Raises `Wrong`."""
    before = _files(image.root)
    with tempfile.TemporaryDirectory() as data, running(Path(data)) as servers:
        where = make_url(servers.database_url)
        valkey = unquote(servers.redis_url.removeprefix("unix://"))
        async with over_tcp(valkey) as redis, over_tcp(f"{where.query['host']}/.s.PGSQL.5432") as postgres:
            urls = {
                "REDIS_URL": f"redis://127.0.0.1:{redis}/0",
                "DATABASE_URL": f"postgresql://{where.username}@127.0.0.1:{postgres}/{where.database}",
            }
            for sealed in (False, True):
                print(f"  {image.of('CMD').rest}{', nothing may be written' if sealed else ''}", flush=True)
                await _check_server(image, urls, sealed)
            print("  coinche worker", flush=True)
            with _started(image, ["coinche", "worker"], urls, sealed=True) as worker:
                await _said(worker, "coinche works")
                await _stopped(image, worker)
    if changed := sorted(before ^ _files(image.root)):
        raise Wrong(f"the image is not as it was before it ran: {changed[:10]}")


async def _check_server(image: Image, urls: dict[str, str], sealed: bool) -> None:
    with _started(image, image.of("CMD").list, urls | {"COINCHE_PORT": "0"}, sealed) as server:
        address = (await _said(server, "ready: http://")).rpartition("ready: ")[2].split()[0]
        port = address.rstrip("/").rpartition(":")[2]
        health = image.inside(image.of("HEALTHCHECK").list, {"COINCHE_PORT": port})
        asked = await asyncio.to_thread(subprocess.run, health, capture_output=True, text=True, check=False)
        if asked.returncode != 0:
            raise Wrong(f"HEALTHCHECK: {asked.stderr}")
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as http:
            for path in ("/health/live", "/health/ready", "/", "/static/js/app.js", "/api/v1/games", "/api/v1/players"):
                answer = await http.get(path)
                if answer.status_code != 200:
                    raise Wrong(f"{path}: {answer.status_code} {answer.text}")
            stores = (await http.get("/health/ready")).json()["stores"]
            if not all(stores.values()):
                raise Wrong(f"not every store answers: {stores}")
        await _stopped(image, server)


@contextmanager
def _started(image: Image, words: list[str], urls: dict[str, str], sealed: bool) -> Iterator[subprocess.Popen[bytes]]:
    command = image.inside(words, urls, sealed)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            yield process
        finally:
            process.kill()


async def _said(process: subprocess.Popen[bytes], wanted: str) -> str:
    """The first line with this in it."""
    assert process.stdout
    said = []
    async with asyncio.timeout(PATIENCE):
        while line := (await asyncio.to_thread(process.stdout.readline)).decode():
            said.append(line)
            if wanted in line:
                return line
    raise Wrong(f"it ended before it was ready:\n{''.join(said)}")


async def _stopped(image: Image, process: subprocess.Popen[bytes]) -> None:
    """Process 1 of the container gets the image's STOPSIGNAL and ends well; it was nobody in particular all the time."""
    (first,) = [pid for pid in Path("/proc").glob("[0-9]*") if _parent(pid) == process.pid]
    user = (first / "status").read_text().partition("\nUid:")[2].split()[0]
    if user != image.user.partition(":")[0]:
        raise Wrong(f"it runs as {user}")
    os.kill(int(first.name), getattr(signal, image.of("STOPSIGNAL").rest))
    rest, _ = await asyncio.to_thread(process.communicate, timeout=PATIENCE)
    if process.returncode != 0 or not rest.decode().rstrip().endswith("coinche has stopped; games are kept."):
        raise Wrong(f"it did not stop well, code {process.returncode}:\n{rest.decode()}")


def _parent(pid: Path) -> int:
    try:
        return int((pid / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it ended while we looked
        return 0


def _files(root: Path) -> set[tuple[str, int, int, int]]:
    """Every file with its size, its time and its rights."""
    found = set()
    for path in root.rglob("*"):
        told = path.lstat()
        found.add((str(path.relative_to(root)), 0 if path.is_dir() else told.st_size, told.st_mtime_ns, told.st_mode))
    return found


@asynccontextmanager
async def over_tcp(path: str) -> AsyncIterator[int]:
    """A port of this machine behind which a server answers that listens on a socket only."""

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
        writer.close()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, ours = await asyncio.open_unix_connection(path)
        await asyncio.gather(pass_on(reader, ours), pass_on(theirs, writer), return_exceptions=True)

    async with await asyncio.start_server(meet, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


def main() -> None:
    """Run from the command line; exit 1 if the image is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="Build in this folder and leave it; the bare Debian in it is used again.")
    kept = parser.parse_args().keep
    if os.geteuid() != 0:
        sys.exit("Only root may build an image: sudo make check-image")
    if not shutil.which("debootstrap"):
        sys.exit(MISSING)
    with tempfile.TemporaryDirectory(prefix="coinche-image-", dir="/var/tmp") as folder:
        work = (kept or Path(folder)).absolute()
        work.mkdir(parents=True, exist_ok=True)
        try:
            image = build(work)
            asyncio.run(check(image))
        except Wrong as wrong:
            sys.exit(str(wrong))
    print("The image serves, as nobody in particular, and writes nowhere.")


if __name__ == "__main__":
    main()
