"""Removes one check of the verifier at a time, and sees whether the corpus or a test notices. Run by .ci/mutants."""

import argparse
import collections
import concurrent.futures
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

import mutant_sites
from mutant_sites import SWITCH, File, Site

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = ["Mdoc", "PKIX", "Trust", "Presentation"]
# The tests that a removal is held against, nearest first, and what they take: half of the package need not be compiled.
TARGETS = ["Mdoc", "PKIX", "Trust", "Presentation", "Network"]
# They run the compiler, or repeat the corpus.
LEFT_OUT = re.compile(r"CompileFailureTests|PresentationTests\.(Secrecy|MockVariant)Tests")
TRACE_BYTES = 65_536
# The copy has one program: it judges vectors.
PACKAGE = """
package.targets.append(
  .executableTarget(
    name: "Judge", dependencies: ["Longfellow", "Vectors"], path: "Sources/Lab/Judge", swiftSettings: language))
let tests: Set<String> = %s
let others: Set<String> = ["Stores", "Pages", "App", "TestMode", "Bench", "MdocTool"]
package.targets.removeAll { $0.type == .test && !tests.contains($0.name) || others.contains($0.name) }
package.products = []
"""
JUDGE = """import Longfellow
import Vectors

let arguments = CommandLine.arguments
let circuits = arguments.count > 2 ? try CircuitLibrary(folder: arguments[2]) : nil
let report = try await VectorRunner(try VectorSuite(at: arguments[1]), circuits: circuits).run()
for failure in report.failures { print("FAILED \\(failure.summary.id)") }
if report.count.passed == 0 { print("FAILED all: nothing was judged") }
"""
FAILURE = re.compile(rb"^FAILED \S+|^.*recorded an issue.*|^.*Fatal error.*", re.M)


class Project:
    """A copy of the tracked files, in which every check can be removed."""

    def __init__(self, work: pathlib.Path, has_facts: bool):
        self.folder = work / "mdoc"
        self.sites: list[Site] = []
        self.readings: list[Site] = []
        self.has_facts = has_facts

        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        self.tracked = {name.decode() for name in listed.split(b"\0") if name and (ROOT / name.decode()).is_file()}
        self.instrumented = self._instrumented()

    def copy(self):
        wanted = set(self.tracked)
        for name in wanted - {"Package.swift"}:
            content = self.instrumented.get(name) or (ROOT / name).read_bytes()
            self._write(name, content, (ROOT / name).stat().st_mode)
        package = (ROOT / "Package.swift").read_text()
        tests = json.dumps([name + "Tests" for name in TARGETS])
        added = {
            "Package.swift": package + PACKAGE % tests, "Sources/Lab/Judge/main.swift": JUDGE,
            "Sources/Verifier/Base/Mutant.swift": SWITCH}
        for name, text in added.items():
            self._write(name, text.encode(), 0o644)
        wanted |= added.keys()
        for folder, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if name != ".build"]
            for path in (pathlib.Path(folder, name) for name in names):
                if path.relative_to(self.folder).as_posix() not in wanted:
                    path.unlink()
        beside = self.folder.parent / "shared"
        if not beside.is_symlink() and (ROOT.parent / "shared").is_dir():
            beside.symlink_to(ROOT.parent / "shared")

    def _instrumented(self) -> dict[str, bytes]:
        instrumented = {}
        for module in MODULES:
            prefix = f"Sources/Verifier/{module}/"
            for name in sorted(name for name in self.tracked if name.startswith(prefix) and name.endswith(".swift")):
                file = File(module, name.removeprefix("Sources/Verifier/").removesuffix(".swift"), (ROOT / name).read_bytes())
                for site in file.sites:
                    if site.number is None:
                        self.readings.append(site)
                    else:
                        site.number = len(self.sites) + 1
                        self.sites.append(site)
                instrumented[name] = file.instrumented()
        if len(self.sites) >= TRACE_BYTES:
            raise SystemExit("more sites than a trace has bytes")
        return instrumented

    def _write(self, name, content, mode):
        path = self.folder / name
        if path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode & 0o777)

    def build(self, *arguments):
        begun = time.monotonic()
        command = ["swift", "build", *arguments]
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            lines = [line for line in done.stdout.decode(errors="replace").splitlines() if "error:" in line]
            raise SystemExit("the copy does not build:\n" + "\n".join(lines[:60]))
        print(f"built in {time.monotonic() - begun:.0f} s", flush=True)


class Runner:
    """Runs vectors of the corpus and suites of tests in the copy, with one check removed or with none."""

    def __init__(self, project: Project, work: pathlib.Path):
        self.folder = project.folder
        self.products = project.folder / ".build/debug"
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
        if kept.exists():
            self.reached[name] = frozenset(json.loads(kept.read_text()))
        else:
            kept.write_text(json.dumps(sorted(self.trace(name, lambda path: self.runner.judge([name], None, path)))))

    def suite(self, name: str):
        return self.trace(name, lambda path: self.runner.test(name, None, path))


def exceptions() -> dict[str, str]:
    """The arguments of .ci/mutants.toml by the name of a site."""
    path = ROOT / ".ci/mutants.toml"
    entries = tomllib.loads(path.read_text()).get("exception", []) if path.exists() else []
    named = {entry["site"]: " ".join(entry["argument"].split()) for entry in entries}
    if len(named) != len(entries):
        raise SystemExit("mutants.toml names a site twice")
    return named


def chosen(project: Project, options) -> list[Site]:
    sites = [site for site in project.sites if project.has_facts or site.kind != "fact"]
    if options.module:
        sites = [site for site in sites if site.module in options.module]
    if options.site:
        sites = [site for site in sites if re.search(options.site, site.name)]
    if options.again:
        rows = json.loads(pathlib.Path(options.report).with_suffix(".json").read_text())["sites"]
        names = {row["site"] for row in rows if row["outcome"] in ("survived", "exception")}
        sites = [site for site in sites if site.name in names]
    if options.part:
        part, parts = map(int, options.part.split("/"))
        sites = [site for index, site in enumerate(sites) if index % parts == part % parts]
    return sites


def judge(sites: list[Site], runner: Runner, options) -> dict[int, tuple[str, str]]:
    """Where each removal was noticed, and by what; ("", "") where it was not."""
    reach = Reach(runner)
    outcomes: dict[int, tuple[str, str]] = {}

    def by_corpus(site: Site) -> tuple[str, str]:
        names = [name for name in runner.vectors() if site.number in reach.reached[name]]
        noticed = runner.judge(names, site.number) if names else None
        return ("corpus", noticed) if noticed else ("", "")

    def by_tests(suites: list[str]):
        def one(site: Site) -> tuple[str, str]:
            for suite in suites:
                if site.number in reach.reached[suite]:
                    # Twice, since a deadline may be missed for another reason.
                    if runner.test(suite, site.number) and (noticed := runner.test(suite, site.number)):
                        return suite, noticed
            return "", ""

        return one

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:

        def stage(name: str, notice, open_sites: list[Site], begun: float) -> list[Site]:
            for site, outcome in zip(open_sites, pool.map(notice, open_sites)):
                outcomes[site.number] = outcome
            left = [site for site in open_sites if not outcomes[site.number][0]]
            seconds = time.monotonic() - begun
            print(f"{name}: {len(open_sites) - len(left)} of {len(open_sites)} noticed, {seconds:.0f} s", flush=True)
            return left

        begun = time.monotonic()
        list(pool.map(reach.vector, runner.vectors()))
        print(f"{len(reach.reached)} vectors pass, {time.monotonic() - begun:.0f} s", flush=True)
        left = stage("corpus", by_corpus, sites, time.monotonic())
        remaining = runner.scratch.parent / "left.txt"
        remaining.write_text("".join(f"{site.name}\n" for site in left))
        for target in [] if options.corpus_only else ordered(left):
            begun = time.monotonic()
            suites = runner.suites([target]) if left else []
            list(pool.map(reach.suite, suites))
            # What reaches least is the nearest.
            suites.sort(key=lambda suite: len(reach.reached[suite]))
            left = stage(f"{target}Tests", by_tests(suites), left, begun) if suites else left
            remaining.write_text("".join(f"{site.name}\n" for site in left))
    return outcomes


def ordered(sites: list[Site]) -> list[str]:
    modules = {site.module for site in sites}
    return sorted(TARGETS, key=lambda target: (target not in modules, TARGETS.index(target)))


def report(sites, readings, outcomes, named, options, project) -> int:
    everything = {site.name for site in project.sites}
    rows, faults = [], []
    for site in sites:
        suite, noticed = outcomes[site.number]
        excepted = site.name in named
        outcome = ("corpus" if suite.startswith("corpus") else "tests") if suite else "exception" if excepted else "survived"
        if suite and excepted:
            faults.append(f"is an exception, and {suite} notices it: {site.name}")
        if outcome == "survived" and site.kind != "fact":
            faults.append(f"survived: {site.name} (Sources/Verifier/{site.file}.swift:{site.line})")
        rows.append({
            "site": site.name, "module": site.module, "kind": site.kind,
            "place": f"Sources/Verifier/{site.file}.swift:{site.line}", "outcome": outcome, "by": suite, "noticed": noticed})
    faults += [f"an exception that fits no site: {name}" for name in named if name not in everything]
    text = markdown(rows, readings, named)
    output = pathlib.Path(options.report)
    output.with_suffix(".json").write_text(json.dumps({
        "sites": rows, "readings": [f"{one.name} (line {one.line})" for one in readings]}, indent=1) + "\n")
    output.with_suffix(".md").write_text(text)
    print(text[: text.index("\n## ")] if "\n## " in text else text)
    for fault in faults:
        print(f"✘ {fault}", file=sys.stderr)
    return 1 if faults else 0


def markdown(rows, readings, named) -> str:
    lines = [f"# Mutation test, {datetime.date.today()}", ""]
    for title, wanted in [("Checks", lambda row: row["kind"] != "fact"), ("Facts", lambda row: row["kind"] == "fact")]:
        counted = [row for row in rows if wanted(row)]
        if not counted:
            continue
        lines += [f"| {title} | Removed | Noticed by the corpus | by tests | Exceptions | Survived | Score |",
                  "|---|---:|---:|---:|---:|---:|---:|"]
        for module in [*MODULES, "All"]:
            of = [row["outcome"] for row in counted if module in ("All", row["module"])]
            count = collections.Counter(of)
            rest = len(of) - count["exception"]
            score = f"{100 * (count['corpus'] + count['tests']) / rest:.1f} %" if rest else "–"
            lines.append(
                f"| {module} | {len(of)} | {count['corpus']} | {count['tests']} | {count['exception']} | "
                f"{count['survived']} | {score} |")
        lines.append("")
    survived = [row for row in rows if row["outcome"] == "survived"]
    if survived:
        lines += ["", "## Survived", ""] + [f"- {row['place']}: {row['site']}" for row in survived]
    excepted = [row for row in rows if row["outcome"] == "exception"]
    if excepted:
        lines += ["", "## Exceptions", ""] + [f"- {row['site']}: {named[row['site']]}" for row in excepted]
    lines += ["", "## Readings, which can't be removed", ""]
    lines += [f"- {one.name} (line {one.line})" for one in readings]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="the folder of the copy and its build")
    parser.add_argument("--module", action="append", choices=MODULES, help="only the checks of this module")
    parser.add_argument("--site", metavar="REGEX", help="only sites whose name fits")
    parser.add_argument("--part", metavar="K/N", help="only every Nth site, from the Kth")
    parser.add_argument("--again", action="store_true", help="only what the last report says survived")
    parser.add_argument("--corpus-only", action="store_true", help="no unit tests")
    parser.add_argument("--facts", action="store_true", help="also what checks are derived from; not in the score")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many run at once")
    parser.add_argument("--report", help="where the reports go, without .json or .md (default: in the work folder)")
    parser.add_argument("--list", action="store_true", help="only print the sites")
    options = parser.parse_args()
    options.report = options.report or options.work / "report"

    project = Project(options.work.resolve(), options.facts)
    sites = chosen(project, options)
    if options.list:
        for site in sites:
            print(f"{site.number:4} line {site.line}: {site.name}")
        return 0
    named = exceptions()
    print(f"{len(sites)} of {len(project.sites)} sites, {len(project.readings)} readings", flush=True)
    project.copy()
    project.build(*(["--product", "Judge"] if options.corpus_only else ["--build-tests"]))
    runner = Runner(project, options.work.resolve())
    outcomes = judge(sites, runner, options)
    shutil.rmtree(runner.scratch, ignore_errors=True)
    return report(sites, project.readings, outcomes, named, options, project)


if __name__ == "__main__":
    sys.exit(main())
