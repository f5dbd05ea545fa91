import Base
import CBOR
import Longfellow
import Mock
import PKIX
import Vectors

/// Measures zero-knowledge proofs by circuit: what the circuit takes, and what a proof of the mock wallet's takes.
package struct ProofBenchmark {
  /// Verifications of each proof. Proofs themselves, which are dearer, are made a tenth as often.
  let rounds: Int

  package struct Figures {
    let circuit: KnownCircuit
    let loadSeconds: Double
    let proofBytes: Int
    /// Of the wallet's whole answer, of which nearly all is the proof.
    let proveMilliseconds: Double
    /// By one thread and by two.
    let verifyMilliseconds: [(threads: Int, median: Double)]
    /// Processor time of one verification by one thread.
    let processorMilliseconds: Double
    /// Bytes that the circuit keeps; nil if the system does not tell.
    var residentBytes: Int?
    /// Bytes that one verification by one thread takes at its peak; nil if the system does not tell.
    var peakBytes: Int?
  }

  package struct Failed: Error { package let reason: String }

  package init(rounds: Int) { self.rounds = rounds }

  package func run(folder: String) throws(Failed) -> [Figures] {
    let files: [(circuit: KnownCircuit, bytes: [UInt8])]
    do throws(CircuitFolderError) {
      var read: [(KnownCircuit, [UInt8])] = []
      for (circuit, path) in try CircuitLibrary.paths(in: folder) {
        read.append((circuit, try CircuitLibrary.read(path)))
      }
      files = read
    } catch {
      throw Failed(reason: error.description)
    }
    guard !files.isEmpty else { throw Failed(reason: "\(folder): has no circuit that is known") }
    var measured: [(figures: Figures, proof: ProvenElements)] = []
    for (circuit, file) in files { measured.append(try time(circuit, file)) }
    // Last, since an allocator that gives memory back at once is slower.
    Meter.prepare()
    var all: [Figures] = []
    for ((figures, proof), (circuit, file)) in zip(measured, files) {
      var figures = figures
      let whole = Meter()
      let verifier = try verifier(CircuitLibrary([circuit: file]), circuit)
      figures.residentBytes = whole.residentRise()
      let one = Meter()
      try proof.verify(by: verifier, threads: 1)
      figures.peakBytes = one.read(for: 0).peakMemory
      all.append(figures)
    }
    return all
  }

  private func time(
    _ circuit: KnownCircuit, _ file: [UInt8]
  ) throws(Failed) -> (figures: Figures, proof: ProvenElements) {
    let library = CircuitLibrary([circuit: file])
    let start = CPUClock.wall()
    let verifier = try verifier(library, circuit)
    let loadSeconds = (CPUClock.wall() - start) / 1e6
    let wallet: ProvingWallet
    do { wallet = try ProvingWallet(circuit, library) } catch { throw Failed(reason: "\(circuit.name): \(error)") }
    // The first is not counted: the prover makes itself ready.
    let proof = try wallet.prove(inSession: 0)
    var proving = Samples()
    for session in 1...max(1, rounds / 10) {
      let start = CPUClock.wall()
      _ = try wallet.prove(inSession: session)
      proving.add(CPUClock.wall() - start)
    }
    var processor = Samples()
    var verifying: [(threads: Int, samples: Samples)] = [(1, Samples()), (2, Samples())]
    for _ in 0..<rounds {
      for index in verifying.indices {
        let (start, startOfThread) = (CPUClock.wall(), CPUClock.thread())
        try proof.verify(by: verifier, threads: verifying[index].threads)
        verifying[index].samples.add(CPUClock.wall() - start)
        if verifying[index].threads == 1 { processor.add(CPUClock.thread() - startOfThread) }
      }
    }
    return (
      Figures(
        circuit: circuit, loadSeconds: loadSeconds, proofBytes: proof.proof.count,
        proveMilliseconds: proving.median / 1_000,
        verifyMilliseconds: verifying.map { ($0.threads, $0.samples.median / 1_000) },
        processorMilliseconds: processor.median / 1_000),
      proof
    )
  }

  private func verifier(_ library: CircuitLibrary, _ circuit: KnownCircuit) throws(Failed) -> LongfellowVerifier {
    guard let verifier = try? library.verifier(for: circuit) else {
      throw Failed(reason: "\(circuit.name): the file is damaged or holds another circuit")
    }
    return verifier
  }
}

/// A mock wallet that proves as many elements of its driving licence as the circuit is for.
private struct ProvingWallet {
  private let circuit: KnownCircuit
  private let wallet: MockWallet
  private let request: MockRequest
  private static let elements = ["given_name", "family_name", "document_number", "issuing_country"]

  init(_ circuit: KnownCircuit, _ library: CircuitLibrary) throws {
    self.circuit = circuit
    wallet = MockWallet(authority: try BenchmarkAnswer.authority(), prover: MockProver(circuits: library))
    var document = MockRequest.Document(
      docType: MockDocType.mDL,
      elements: Self.elements.prefix(circuit.elements).map { (MockNamespace.mDL, $0) })
    document.circuits = [circuit]
    request = MockRequest(documents: [document])
  }

  /// Every session has a proof of its own: the mock wallet remembers the last.
  func prove(inSession number: Int) throws(ProofBenchmark.Failed) -> ProvenElements {
    let transcript = CBORValue.array([.null, .null, .integer(Int64(number))]).encoded()
    do {
      let answer = try wallet.answer(request, transcript: transcript, at: BenchmarkAnswer.now)
      if let proof = ProvenElements(answer.bytes, transcript: transcript) { return proof }
    } catch {
      throw ProofBenchmark.Failed(reason: "\(circuit.name): \(error)")
    }
    throw ProofBenchmark.Failed(reason: "\(circuit.name): the mock wallet made no proof")
  }
}

/// A proof with what it proves, as the circuit's verifier wants it.
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

  func verify(by verifier: LongfellowVerifier, threads: Int) throws(ProofBenchmark.Failed) {
    do throws(LongfellowError) {
      try verifier.verify(proof: proof, statement: statement, threads: threads)
    } catch {
      throw ProofBenchmark.Failed(reason: "a proof of the mock wallet was refused: \(error)")
    }
  }
}

// MARK: Output

extension ProofBenchmark.Figures {
  /// One line a circuit, under one of headings.
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
