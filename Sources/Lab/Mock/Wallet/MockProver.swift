import Base
import CBOR
import Cryptography
import Longfellow
import LongfellowProver

/// Makes zero-knowledge proofs of the mock wallet's documents (longfellow-libzk-v1).
///
/// A proof's randomness comes from the response's seed, so the same response has the same proof.
package final class MockProver: Sendable {
  private let circuits: CircuitLibrary
  private let provers = Locked<[KnownCircuit: LongfellowProver]>([:])
  /// The last two proofs: the correct proof that many variants share, and a proof of another statement.
  private let last = Locked<[(statement: [UInt8], proof: LongfellowProver.Proof)]>([])

  package init(circuits: CircuitLibrary) { self.circuits = circuits }

  /// True if the request offers an available circuit for its number of elements.
  func canProve(_ document: MockRequest.Document) -> Bool { circuit(for: document) != nil }

  private func circuit(for document: MockRequest.Document) -> KnownCircuit? {
    let count = document.elements.count + document.ageOver.count
    let available = circuits.circuits
    return document.circuits.first { $0.elements == count && available.contains($0) }
  }

  /// Makes a ZkDocument (ISO/IEC 18013-5, second edition) that proves the requested elements of a document.
  ///
  /// - Throws: `MockError` if the document cannot be proven.
  func zkDocument(
    about document: CBORValue, for requested: MockRequest.Document, transcript: [UInt8], authority: MockAuthority,
    mutation: MockMutation, seed: MockSeed, at now: Timestamp
  ) throws -> CBORValue {
    guard let circuit = circuit(for: requested) else { throw MockError.cannotProve("no circuit fits") }
    let parts = try PlainDocument(parsing: document.encoded())
    let timestamp = (now + (try mutation.settings.proofTime)).description
    let secret = try seed.bytes("zk/\(requested.docType)/\(circuit.hash)", count: 32)
    let statement = HashAlgorithm.sha256.hash(secret + transcript + Array(timestamp.utf8) + document.encoded())
    let proof: LongfellowProver.Proof
    if let made = last.withLock({ $0.first { $0.statement == statement } }) {
      proof = made.proof
    } else {
      do throws(ProverError) {
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
      CBORValue.map([("elementIdentifier", .text(element.identifier)), ("elementValue", .encoded(element.value))])
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
    try mutation.apply(Stages.zkDocument, to: &draft)
    if let signer = draft.signer { draft.data["msoX5chain"] = try signer.x5chain() }
    return draft.fields.value
  }

  private func prover(_ circuit: KnownCircuit) throws(ProverError) -> LongfellowProver {
    if let made = provers.withLock({ $0[circuit] }) { return made }
    guard let pair = try? circuits.pair(for: circuit) else { throw .circuitNotSatisfied }
    let made = LongfellowProver(pair)
    provers.withLock { $0[circuit] = made }
    return made
  }
}

/// The parts of a ZkDocument (ISO/IEC 18013-5, second edition).
struct ZkDocumentDraft {
  let authority: MockAuthority
  let now: Timestamp
  let circuit: KnownCircuit
  /// ZkDocumentData.
  var data: MapDraft
  var proof: [UInt8]
  /// The sections of the correct proof's two parts, one part for each circuit.
  let hash, signature: ProofSections
  /// The signer of replacement certificates; nil to keep the correct certificates.
  var signer: MockSigner?
  /// The fields that replace data and proof; nil to keep both.
  var document: MapDraft?

  var fields: MapDraft { document ?? MapDraft([("documentData", .embedded(data.value)), ("proof", .bytes(proof))]) }

  /// The only namespace, with its elements.
  var namespace: (key: CBORValue, value: CBORValue) {
    get { MapDraft(data["issuerSigned"]).entries.first ?? ("", []) }
    set { data["issuerSigned"] = .map([newValue]) }
  }
}

/// The parts of a plain document that a proof needs.
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
    else { throw MockError.cannotProve("the elements must be of one namespace") }
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
