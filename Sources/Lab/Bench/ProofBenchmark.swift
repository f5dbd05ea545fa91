import Base
import CBOR
import Longfellow
import Mock
import PKIX
import Vectors

/// Measures zero-knowledge proofs for each circuit: loading the circuit, making a proof and verifying it.
package struct ProofBenchmark {
  /// The number of verifications of each proof. The benchmark makes only a tenth as many proofs, since proving takes
  /// longer than verifying.
  let rounds: Int

  package struct Figures {
    let circuit: KnownCircuit
    let loadSeconds: Double
    let proofBytes: Int
    /// The time for the wallet's whole response. The proof takes most of it.
    let proveMilliseconds: Double
    /// The median verification times with one thread and with two threads.
    let verifyMilliseconds: [(threads: Int, median: Double)]
    /// Processor time of one verification with one thread.
    let processorMilliseconds: Double
    /// The memory that the loaded circuit occupies, in bytes; nil if unknown.
    var residentBytes: Int?
    /// Peak memory of one verification with one thread, in bytes; nil if unknown.
    var peakBytes: Int?
  }

  package init(rounds: Int) { self.rounds = rounds }

  /// - Parameter progress: called after each circuit with the number of finished circuits and the total.
  package func run(folder: String, progress: (_ done: Int, _ total: Int) -> Void) throws -> [Figures] {
    let files = try CircuitLibrary.paths(in: folder).map { ($0.circuit, try CircuitLibrary.read($0.path)) }
    guard !files.isEmpty else { throw BenchError(reason: "\(folder): contains no known circuit") }
    var measured: [(figures: Figures, proof: ProvenElements)] = []
    for (circuit, file) in files {
      do { measured.append(try time(circuit, file)) } catch {
        throw BenchError(reason: "\(circuit.name): \(error)")
      }
      progress(measured.count, files.count)
    }
    // Memory is measured last. From here on, the allocator returns freed memory immediately, which is slower.
    Meter.prepare()
    for (index, (circuit, file)) in files.enumerated() {
      let whole = Meter()
      let verifier = try verifier(CircuitLibrary([circuit: file]), circuit)
      measured[index].figures.residentBytes = whole.residentRise()
      let one = Meter()
      try measured[index].proof.verify(by: verifier, threads: 1)
      measured[index].figures.peakBytes = one.read(for: 0).peakMemory
    }
    return measured.map(\.figures)
  }

  private func time(_ circuit: KnownCircuit, _ file: [UInt8]) throws -> (figures: Figures, proof: ProvenElements) {
    let library = CircuitLibrary([circuit: file])
    let start = CPUClock.wall()
    let verifier = try verifier(library, circuit)
    let loadSeconds = (CPUClock.wall() - start) / 1e6
    let wallet = try ProvingWallet(circuit, library)
    // The first proof is not measured, since it includes the prover's preparation.
    let proof = try wallet.prove(inSession: 0)
    var proving = Samples()
    for session in 1...max(1, rounds / 10) {
      let start = CPUClock.wall()
      _ = try wallet.prove(inSession: session)
      proving.add(CPUClock.wall() - start)
    }
    var (processor, byOne, byTwo) = (Samples(), Samples(), Samples())
    for _ in 0..<rounds {
      let (start, startOfThread) = (CPUClock.wall(), CPUClock.thread())
      try proof.verify(by: verifier, threads: 1)
      processor.add(CPUClock.thread() - startOfThread)
      let end = CPUClock.wall()
      byOne.add(end - start)
      try proof.verify(by: verifier, threads: 2)
      byTwo.add(CPUClock.wall() - end)
    }
    let figures = Figures(
      circuit: circuit, loadSeconds: loadSeconds, proofBytes: proof.proof.count,
      proveMilliseconds: proving.median / 1_000,
      verifyMilliseconds: [(1, byOne.median / 1_000), (2, byTwo.median / 1_000)],
      processorMilliseconds: processor.median / 1_000)
    return (figures, proof)
  }

  private func verifier(_ library: CircuitLibrary, _ circuit: KnownCircuit) throws -> LongfellowVerifier {
    guard let verifier = try? library.verifier(for: circuit) else {
      throw BenchError(reason: "the file is damaged or contains another circuit")
    }
    return verifier
  }
}

/// A mock wallet that proves as many elements of its driving licence as the circuit expects.
private struct ProvingWallet {
  private let wallet: MockWallet
  private let request: MockRequest
  private static let elements = ["given_name", "family_name", "document_number", "issuing_country"]

  init(_ circuit: KnownCircuit, _ library: CircuitLibrary) throws {
    wallet = MockWallet(authority: try MeasuredResponse.authority(), prover: MockProver(circuits: library))
    var document = MockRequest.Document(
      docType: MockDocType.mDL,
      elements: Self.elements.prefix(circuit.elements).map { (MockNamespace.mDL, $0) })
    document.circuits = [circuit]
    request = MockRequest(documents: [document])
  }

  /// Makes a new proof for each session number. For a repeated number, the mock wallet reuses its last proof.
  func prove(inSession number: Int) throws -> ProvenElements {
    let transcript = CBORValue.array([.null, .null, .integer(Int64(number))]).encoded()
    let response = try wallet.answer(request, transcript: transcript, at: MeasuredResponse.now).bytes
    guard let proof = ProvenElements(response, transcript: transcript) else {
      throw BenchError(reason: "the mock wallet made no proof")
    }
    return proof
  }
}

/// A proof with its statement.
private struct ProvenElements {
  let proof: [UInt8]
  private let statement: LongfellowStatement

  /// - Parameter response: a DeviceResponse with one proof.
  init?(_ response: [UInt8], transcript: [UInt8]) {
    guard let response = try? CBORItem(parsing: response),
      let item = response[key: "zkDocuments"]?.elements?.first(where: { _ in true }),
      let data = item[key: "documentData"]?.embedded, let proof = item[key: "proof"]?.bytes,
      let docType = data[key: "docType"]?.text, let time = data[key: "timestamp"]?.content(ofTag: 0)?.text,
      let namespace = data[key: "issuerSigned"]?.entries?.first(where: { _ in true }),
      let chain = data[key: "msoX5chain"]?.bytes, let key = try? Certificate(der: chain).publicKey,
      let items = namespace.value.elements
    else { return nil }
    let elements = items.compactMap { element -> (identifier: String, value: [UInt8])? in
      guard let name = element[key: "elementIdentifier"]?.text, let value = element[key: "elementValue"] else {
        return nil
      }
      return (name, Array(value.encoded))
    }
    self.proof = Array(proof)
    statement = LongfellowStatement(
      issuerX: Array(key.encoded[1..<33]), issuerY: Array(key.encoded[33..<65]), documentType: docType,
      transcript: transcript, elements: elements, timestamp: time)
  }

  func verify(by verifier: LongfellowVerifier, threads: Int) throws {
    do { try verifier.verify(proof: proof, statement: statement, threads: threads) } catch {
      throw BenchError(reason: "a proof of the mock wallet was refused: \(error)")
    }
  }
}

// MARK: Output

extension ProofBenchmark.Figures {
  /// A table with headings and one line for each circuit.
  package static func text(_ all: [Self]) -> String {
    let headings = [
      "circuit", "load s", "resident MB", "proof bytes", "prove ms", "verify ms", "2 threads", "processor ms",
      "peak MB",
    ]
    let lines = [headings] + all.map(\.columns)
    return lines.map { line in
      let columns = zip(line, headings).map { String(repeating: " ", count: max(0, $1.count + 2 - $0.count)) + $0 }
      return String(columns.joined().dropFirst(2))
    }.joined(separator: "\n")
  }

  private var columns: [String] {
    func megabytes(_ bytes: Int?) -> String { bytes.map { decimal(Double($0) / 1e6, 1) } ?? "-" }
    return [
      circuit.name, decimal(loadSeconds, 2), megabytes(residentBytes), "\(proofBytes)", decimal(proveMilliseconds, 0),
    ] + verifyMilliseconds.map { decimal($0.median, 1) } + [decimal(processorMilliseconds, 1), megabytes(peakBytes)]
  }

  package var json: JSON {
    func microseconds(_ milliseconds: Double) -> JSON { .integer(Int64(milliseconds * 1_000)) }
    return [
      "circuit": .string(circuit.name), "circuit_hash": .string(circuit.hash),
      "load_microseconds": microseconds(loadSeconds * 1_000),
      "resident_bytes": residentBytes.map { .integer(Int64($0)) } ?? .null, "proof_bytes": .integer(Int64(proofBytes)),
      "prove_microseconds": microseconds(proveMilliseconds),
      "verify": .array(
        verifyMilliseconds.map { ["threads": .integer(Int64($0.threads)), "microseconds": microseconds($0.median)] }),
      "verify_processor_microseconds": microseconds(processorMilliseconds),
      "peak_bytes": peakBytes.map { .integer(Int64($0)) } ?? .null,
    ]
  }
}
