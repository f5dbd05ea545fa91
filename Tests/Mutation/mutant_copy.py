"""The copy of the package in which each check of the verifier can be removed. The switch is in the copy alone."""

import json
import os
import pathlib
import subprocess
import time

from mutant_runs import TRACE_BYTES
from mutant_sites import File, Site

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["Mdoc", "PKIX", "Trust", "Presentation"]
# The tests that a removal is held against, nearest first, and what they take: half of the package need not be compiled.
TARGETS = ["Mdoc", "PKIX", "Trust", "Presentation", "Network"]

# In Base.
SWITCH = """import Glibc

/// Which check is removed in this process.
public enum Mutant {
  private static let chosen = getenv("MDOC_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

  /// A byte for each site, in a file that several processes share: 1 once removing it would have changed something.
  nonisolated(unsafe) private static let trace: UnsafeMutablePointer<UInt8>? = {
    guard let path = getenv("MDOC_MUTANT_TRACE") else { return nil }
    let file = open(path, O_RDWR)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let map = mmap(nil, 65_536, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    return map == MAP_FAILED ? nil : map?.assumingMemoryBound(to: UInt8.self)
  }()

  public static func isOn(_ number: Int) -> Bool {
    if let trace { trace[number] = 1 }
    return number == chosen
  }

  /// A verdict that is taken for a good one where the check of it is removed.
  public static func verdict<Verdict: Equatable>(
    _ verdict: Verdict, _ removed: [(number: Int, failure: Verdict)], good: Verdict
  ) -> Verdict {
    removed.contains { $0.failure == verdict && isOn($0.number) } ? good : verdict
  }
}

extension CheckList {
  public mutating func failed(mutant: Int, _ code: Code, _ detail: String? = nil) {
    if Mutant.isOn(mutant) { passed(code) } else { failed(code, detail) }
  }

  public mutating func warned(mutant: Int, _ code: Code, _ detail: String? = nil) {
    if Mutant.isOn(mutant) { passed(code) } else { warned(code, detail) }
  }
}
"""

RULES = """
extension ProfileRule {
  init(mutant: Int, _ code: Code, _ deviations: @escaping @Sendable (ProfiledCertificate) -> [String]?) {
    self.init(code) { subject in
      guard let found = deviations(subject), !found.isEmpty else { return deviations(subject) }
      return Mutant.isOn(mutant) ? [] : found
    }
  }
}
"""

# The copy has one program: it judges vectors.
PACKAGE = """
package.targets.append(
  .executableTarget(
    name: "Judge", dependencies: ["Longfellow", "Vectors"], path: "Sources/Lab/Judge", swiftSettings: language))
let tests: Set<String> = %s
let others: Set<String> = ["Stores", "App", "TestMode", "Bench", "CorpusMaking", "PublishedSets"]
package.targets.removeAll {
  $0.type == .test && !tests.contains($0.name) || $0.type == .executable && $0.name != "Judge" || others.contains($0.name)
}
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


class Project:
    """A copy of the tracked files, in which every check can be removed."""

    def __init__(self, work: pathlib.Path, has_facts: bool, has_published: bool):
        self.folder = work / "mdoc"
        self.sites: list[Site] = []
        self.readings: list[Site] = []
        self.has_facts = has_facts
        # What others published lies beside the working copy, or it is not there.
        self.has_published = has_published and (ROOT.parent / "shared/vectors/README.md").is_file()
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
        beside.unlink(missing_ok=True)
        if self.has_published:
            beside.symlink_to(ROOT.parent / "shared")

    def _instrumented(self) -> dict[str, bytes]:
        instrumented = {}
        for module in MODULES:
            prefix = f"Sources/Verifier/{module}/"
            for name in sorted(name for name in self.tracked if name.startswith(prefix) and name.endswith(".swift")):
                short = name.removeprefix("Sources/Verifier/").removesuffix(".swift")
                file = File(module, short, (ROOT / name).read_bytes())
                for site in file.sites:
                    if site.number is None:
                        self.readings.append(site)
                    else:
                        site.number = len(self.sites) + 1
                        self.sites.append(site)
                rules = RULES.encode() if short.endswith("/CertificateProfile") else b""
                instrumented[name] = file.instrumented() + rules
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
