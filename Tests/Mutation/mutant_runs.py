"""Runs vectors and tests in the copy, with one check of the verifier removed or with none."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

# Suites that are left out: they run the compiler, or repeat the corpus.
LEFT_OUT = re.compile(r"CompileFailureTests|PresentationTests\.(Secrecy|MockVariant)Tests")
# What the judge of vectors and swift-testing print of a failure.
FAILURE = re.compile(rb"^FAILED \S+|^.*recorded an issue.*|^.*Fatal error.*", re.M)
# A byte for each site.
TRACE_BYTES = 65_536


class Runner:
    """Runs vectors of the corpus and suites of tests in the copy, with one check removed or with none."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.products = folder / ".build/debug"
        work = folder.parent
        self.bounds: dict[str, float] = {}
        self.scratch = work / "tmp"
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        self.circuits = work / "shared/vectors/longfellow/circuits"
        self.corpus = {path.stem: path for path in sorted((self.folder / "TestVectors").glob("*/*.json"))
                       if path.parent.name != "anchors"}

    def vectors(self) -> list[str]:
        """The ids of those that can be judged here: proofs take circuits."""
        return [name for name, path in self.corpus.items()
                if self.circuits.is_dir() or path.parent.name != "zero-knowledge"]

    def suites(self, targets) -> list[str]:
        command = [str(self.products / "mdocPackageTests.xctest"), "--testing-library", "swift-testing", "--list-tests"]
        listed = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout
        names = {re.split(r"[/(]", line)[0] for line in listed.splitlines() if "/" in line or "(" in line}
        return sorted(
            name for name in names
            if name.split(".")[0].removesuffix("Tests") in targets and not LEFT_OUT.search(name))

    def judge(self, names: list[str], mutant: int | None, trace: pathlib.Path | None = None) -> str | None:
        """What was noticed by these vectors: the first that has another end; nil if all end as they must."""
        with self._place() as folder:
            suite = pathlib.Path(folder, "suite")
            suite.mkdir()
            for name in ["anchors", "schema.json"]:
                (suite / name).symlink_to(self.folder / "TestVectors" / name)
            paths = [self.corpus[name] for name in names]
            proofs = any(path.parent.name == "zero-knowledge" for path in paths)
            if proofs:  # They are described as changes of each other.
                text = "".join(path.read_text() for path in paths)
                paths += [self.corpus[name] for name in set(re.findall(r'"vector":\s*"([^"]+)"', text)) - set(names)]
            for path in paths:
                (suite / path.parent.name).mkdir(exist_ok=True)
                (suite / path.parent.name / path.name).symlink_to(path)
            command = [str(self.products / "Judge"), str(suite), *([str(self.circuits)] if proofs else [])]
            return self._run(command, folder, 60 + 2 * len(names), mutant, trace)

    def test(self, suite: str, mutant: int | None, trace: pathlib.Path | None = None) -> str | None:
        """What was noticed by these tests."""
        with self._place() as folder:
            filter = "^" + re.escape(suite) + r"[/(]"
            command = [str(self.products / "mdocPackageTests.xctest"), "--testing-library", "swift-testing"]
            return self._run([*command, "--filter", filter], folder, self.bounds.get(suite, 600), mutant, trace)

    def _place(self):
        return tempfile.TemporaryDirectory(dir=self.scratch, ignore_cleanup_errors=True)

    def _run(self, command, folder, seconds, mutant, trace) -> str | None:
        environment = os.environ | {"SWIFT_BACKTRACE": "enable=no", "LC_ALL": "C.UTF-8", "TMPDIR": str(folder)}
        environment |= {"MDOC_MUTANT": str(mutant)} if mutant else {}
        environment |= {"MDOC_MUTANT_TRACE": str(trace)} if trace else {}
        process = subprocess.Popen(
            command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return self._watch(process, time.monotonic() + seconds)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()

    def _watch(self, process, end) -> str | None:
        """Waits for the end, the first failure, or the time when it should have ended."""
        os.set_blocking(process.stdout.fileno(), False)
        output = b""
        while True:
            status = process.poll()
            output += process.stdout.read() or b""
            failure = FAILURE.search(output)
            if failure:
                return failure[0].decode(errors="replace")[:200]
            if status is not None:
                return None if status == 0 else f"status {status}" if status > 0 else f"it crashed: signal {-status}"
            if time.monotonic() > end:
                return "it did not end"
            time.sleep(0.02)


class Reach:
    """Which sites a vector or a suite reaches such that removing the check would change something."""

    def __init__(self, runner: Runner):
        self.runner = runner
        self.reached: dict[str, frozenset[int]] = {}
        # What a vector reaches depends on itself and on the sources alone, so it is kept.
        self.kept = runner.scratch.parent / "reach"
        self.used: set[str] = set()
        self.kept.mkdir(exist_ok=True)
        self.sources = hashlib.sha256()
        for path in sorted((runner.folder / "Sources").rglob("*.swift")):
            self.sources.update(path.read_bytes())

    def trace(self, name: str, run) -> frozenset[int]:
        path = self.runner.scratch / f"{name}.trace"
        # Some tests keep deadlines that a busy machine misses.
        for _ in range(3):
            path.write_bytes(bytes(TRACE_BYTES))
            begun = time.monotonic()
            noticed = run(path)
            if noticed is None:
                break
        else:
            raise SystemExit(f"{name} does not pass with all checks: {noticed}")
        self.runner.bounds[name] = max(60.0, 10 * (time.monotonic() - begun))
        self.reached[name] = frozenset(place for place, byte in enumerate(path.read_bytes()) if byte)
        path.unlink()
        return self.reached[name]

    def vector(self, name: str):
        key = self.sources.copy()
        key.update(self.runner.corpus[name].read_bytes())
        kept = self.kept / key.hexdigest()
        self.used.add(kept.name)
        if kept.exists():
            self.reached[name] = frozenset(json.loads(kept.read_text()))
        else:
            kept.write_text(json.dumps(sorted(self.trace(name, lambda path: self.runner.judge([name], None, path)))))

    def forget(self):
        """Removes what is kept of other sources and vectors."""
        for path in self.kept.iterdir():
            if path.name not in self.used:
                path.unlink()

    def suite(self, name: str):
        return self.trace(name, lambda path: self.runner.test(name, None, path))
