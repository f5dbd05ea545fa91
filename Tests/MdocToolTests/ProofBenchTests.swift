import Base
import Longfellow
import TestSupport
import Testing

@testable import Bench
@testable import MdocTool

/// `mdoc bench --zk`: its arguments, and what its report holds.
@Suite struct ProofBenchTests {
  @Test(
    arguments: [
      (["--zk"], 64), (["--circuits", "nowhere"], 64), (["--zk", "--circuits", "nowhere"], 65),
      (["--zk", "--circuits", "/"], 65), (["--zk", "--rounds", "0", "--circuits", "/"], 64),
    ] as [([String], Int32)])
  func `without circuits there is nothing to measure`(arguments: [String], status: Int32) async {
    let run = await Run(["bench"] + arguments)
    #expect(run.status == status)
    #expect(run.hasOneLineOfError)
  }

  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func `each circuit of the folder has its figures`() async throws {
    let scratch = try Scratch()
    for circuit in KnownCircuit.all where circuit.elements == 1 {
      let bytes = try PublishedVectors.bytes("longfellow/circuits/\(circuit.version)_1_\(circuit.hash)")
      try scratch.write(circuit.label, bytes)
    }
    let run = await Run(["bench", "--zk", "--circuits", scratch.path, "--rounds", "1", "--json"])
    #expect(run.status == 0, "\(run.error)")
    let circuits = try #require(try JSON(parsing: Array(run.output.utf8))["circuits"]?.array)
    #expect(circuits.compactMap { $0["circuit"]?.string } == ["v7-1", "v6-1"])
    for circuit in circuits {
      #expect(circuit["proof_bytes"]?.integer.map { (300_000..<400_000).contains($0) } == true)
      let times = ["load_microseconds", "prove_microseconds", "verify_processor_microseconds"].map { circuit[$0] }
      let verified = try #require(circuit["verify"]?.array)
      #expect(verified.compactMap { $0["threads"]?.integer } == [1, 2])
      for time in times + verified.map({ $0["microseconds"] }) { #expect((time?.integer ?? 0) > 0) }
      // Not known where the kernel was built without the counters, nor under a sanitizer.
      for bytes in ["resident_bytes", "peak_bytes"] { #expect((circuit[bytes]?.integer ?? 0) >= 0) }
    }
  }

  @Test func `the text has a line for each circuit, in columns`() {
    let figures = ProofBenchmark.Figures(
      circuit: .all[3], loadSeconds: 0.456, proofBytes: 365_380, proveMilliseconds: 612.4,
      verifyMilliseconds: [(1, 142.25), (2, 81)], processorMilliseconds: 141, residentBytes: 77_000_000, peakBytes: nil)
    #expect(
      ProofBenchmark.Figures.text([figures]) == """
        circuit  load s  resident MB  proof bytes  prove ms  verify ms  2 threads  processor ms  peak MB
           v7-4    0.46         77.0       365380       612      142.3       81.0         141.0        -
        """)
  }
}
