import Base
import CBOR
import Cryptography
import Longfellow
import LongfellowProver

/// Makes zero-knowledge proofs in place of the mock wallet's documents (longfellow-libzk-v1).
///
/// The same answer has the same proof: its randomness comes from the answer's seed.
package final class MockProver: Sendable {
  private let circuits: CircuitLibrary
  private let provers = Locked<[KnownCircuit: LongfellowProver]>([:])
  /// The last two proofs: a right one, which a list of wrong answers shows again and again, and that of another
  /// statement.
  private let last = Locked<[(statement: [UInt8], proof: LongfellowProver.Proof)]>([])

  package init(circuits: CircuitLibrary) { self.circuits = circuits }

  /// Whether one of the offered circuits is at hand and is for as many elements.
  func canProve(_ document: MockRequest.Document) -> Bool { circuit(for: document) != nil }

  private func circuit(for document: MockRequest.Document) -> KnownCircuit? {
    let count = document.elements.count + document.ageOver.count
    let atHand = circuits.circuits
    return document.circuits.first { $0.elements == count && atHand.contains($0) }
  }

  /// A ZkDocument (ISO/IEC 18013-5, second edition) about a document that was made for the same request.
  ///
  /// - Throws: `MockError` if the document cannot be proven.
  func zkDocument(
    about document: CBORValue, for requested: MockRequest.Document, transcript: [UInt8], authority: MockAuthority,
    mutation: MockMutation, seed: MockSeed, at now: Timestamp
  ) throws -> CBORValue {
    guard let circuit = circuit(for: requested) else { throw MockError.cannotProve("no circuit fits") }
    let parts = try PlainDocument(parsing: document.encoded())
    let timestamp = (now + mutation.proofTime).description
    let secret = try seed.bytes("zk/\(requested.docType)/\(circuit.hash)", count: 32)
    let statement = HashAlgorithm.sha256.hash(secret + transcript + Array(timestamp.utf8) + document.encoded())
    let proof: LongfellowProver.Proof
    if let made = last.withLock({ $0.first { $0.statement == statement } }) {
      proof = made.proof
    } else {
      do throws(ProverRefusal) {
        var random = ProverRandomness(seed: secret)
        proof = try prover(circuit).prove(
          ProvableDocument(
            documentType: requested.docType, issuerAuth: parts.issuerAuth, items: parts.items, device: parts.device),
          ProverRequest(
            elements: parts.elements.map { ($0.identifier, $0.value) }, transcript: transcript, timestamp: timestamp),
          random: &random)
      } catch {
        throw MockError.cannotProve("\(error)")
      }
      last.withLock { $0 = $0.suffix(1) + [(statement, proof)] }
    }
    let elements = parts.elements.map { element in
      CBORValue.map([
        (key: "elementIdentifier", value: .text(element.identifier)),
        (key: "elementValue", value: .encoded(element.value)),
      ])
    }
    let data: CBORValue = [
      "docType": .text(requested.docType), "zkSystemId": .text(circuit.label),
      "timestamp": .tagged(0, .text(timestamp)),
      "issuerSigned": .map([(key: .text(parts.namespace), value: .array(elements))]), "deviceSigned": [:],
      "msoX5chain": .encoded(parts.chain),
    ]
    var draft = ZkDocumentDraft(
      authority: authority, now: now, circuit: circuit, data: MapDraft(data), proof: proof.bytes, hash: proof.hash,
      signature: proof.signature)
    try mutation.zkDocument?(&draft)
    return draft.value
  }

  private func prover(_ circuit: KnownCircuit) throws(ProverRefusal) -> LongfellowProver {
    if let made = provers.withLock({ $0[circuit] }) { return made }
    guard let pair = try? circuits.pair(for: circuit) else { throw .circuitNotSatisfied }
    let made = LongfellowProver(pair)
    provers.withLock { $0[circuit] = made }
    return made
  }
}

/// A ZkDocument that is still to be put together (ISO/IEC 18013-5, second edition).
struct ZkDocumentDraft {
  let authority: MockAuthority
  let now: Timestamp
  let circuit: KnownCircuit
  /// ZkDocumentData.
  var data: MapDraft
  var proof: [UInt8]
  /// Where the sections of both circuits' parts of the proof started.
  let hash, signature: ProofSections
  /// Changes the map of data and proof.
  var finish: @Sendable (inout MapDraft) -> Void = { _ in }

  var value: CBORValue {
    var fields = MapDraft([("documentData", .embedded(data.value)), ("proof", .bytes(proof))])
    finish(&fields)
    return fields.value
  }

  /// Changes the elements of the only namespace, each with `elementIdentifier` and `elementValue`.
  mutating func changeElements(_ change: (inout [MapDraft]) throws -> Void) rethrows {
    var issued = MapDraft(data["issuerSigned"])
    guard let first = issued.entries.first, case .array(let items) = first.value else { return }
    var elements = items.map { MapDraft($0) }
    try change(&elements)
    issued.entries[0].value = .array(elements.map(\.value))
    data["issuerSigned"] = issued.value
  }
}

/// What a proof needs of a document as the wallet would return it.
private struct PlainDocument {
  let issuerAuth: [UInt8]
  let chain: [UInt8]
  let namespace: String
  let items: [[UInt8]]
  let elements: [(identifier: String, value: [UInt8])]
  let device: ProvableDocument.DeviceAuthentication

  init(parsing bytes: [UInt8]) throws {
    guard let document = try? CBORItem(parsing: bytes), let issuerSigned = document[key: "issuerSigned"],
      let issuerAuth = issuerSigned[key: "issuerAuth"],
      let namespaces = issuerSigned[key: "nameSpaces"]?.entries.map(Array.init), namespaces.count == 1,
      let items = namespaces[0].value.elements.map(Array.init),
      let chain = issuerAuth.elements.map(Array.init)?[1][label: 33],
      let deviceAuth = document[key: "deviceSigned"]?[key: "deviceAuth"]
    else { throw MockError.cannotProve("the elements are not those of one namespace") }
    self.issuerAuth = Array(issuerAuth.encoded)
    self.chain = Array(chain.encoded)
    namespace = namespaces[0].key.text ?? ""
    self.items = items.map { Array($0.encoded) }
    elements = items.compactMap { item in
      guard let content = item.embedded, let identifier = content[key: "elementIdentifier"]?.text,
        let value = content[key: "elementValue"]
      else { return nil }
      return (identifier, Array(value.encoded))
    }
    let signature = deviceAuth[key: "deviceSignature"]?.elements.map(Array.init)?.last?.bytes
    device = signature.map { .signature(Array($0)) } ?? .mac
  }
}
