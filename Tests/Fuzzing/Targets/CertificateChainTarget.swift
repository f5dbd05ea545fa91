import Base
import CBOR
import COSE
import FuzzDriver
import PKIX
import Trust

@testable import Vectors

/// Certificates: a chain through path validation, a PEM file, the settings beside an anchor.
///
/// Options: the kind of input; for a chain, whether its document type is the mDL's. A chain's certificates have their
/// length before them, in two bytes.
struct CertificateChainTarget: FuzzTarget {
  static let name = "x509-chain"
  static let dictionary = [
    "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----", "doc_types", "ekus", "max_path_length", "relax", "tier",
    "live", "test", "trust.certificate.key_usage", "\\x06\\x03\\x55\\x1d\\x0f", "\\x06\\x03\\x55\\x1d\\x13",
    "\\x06\\x03\\x55\\x1d\\x25", "\\x06\\x03\\x55\\x1d\\x23", "\\x06\\x03\\x55\\x1d\\x0e", "\\x06\\x03\\x55\\x1d\\x1e",
    "\\x06\\x03\\x55\\x1d\\x1f", "\\x06\\x03\\x55\\x1d\\x12", "\\x01\\x01\\xff", "\\x17\\x0d", "\\x18\\x0f",
  ]

  private enum Form: Int, CaseIterable { case chain, pem, settings }

  private let validator: PathValidator
  private let now: Timestamp
  /// Signers of the corpus that are trusted.
  private let trusted: Set<[UInt8]>
  let seeds: [[UInt8]]

  init(_ material: Material) throws {
    validator = material.trust.validator
    now = material.now
    var chains: Set<[[UInt8]]> = []
    for vector in material.proximityVectors.map(\.vector) where !vector.input.isGenerated {
      guard let response = try? CBORItem(parsing: vector.input.bytes) else { continue }
      for document in response[key: "documents"]?.elementList ?? [] {
        guard let parts = DocumentParts(document), let message = try? COSESign1(parsing: parts.issuerAuth) else {
          continue
        }
        chains.insert((message.headers.x5chain ?? []).map { Array($0) })
      }
    }
    var seeds: [[UInt8]] = []
    var trusted: Set<[UInt8]> = []
    for chain in chains {
      let body = chain.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 255)] + $0 }
      seeds += [[0, 0] + body, [0, 1] + body]
      seeds.append([1, 0] + Array(chain.map { PEM.encode(certificate: $0) }.joined().utf8))
      for docType in Self.docTypes {
        let path = validator.evaluate(chain: chain.map { $0[...] }, docType: docType, at: now, skew: Limits.clockSkew)
        if path.isTrusted, let signer = chain.first { trusted.insert(signer) }
      }
    }
    for anchor in validator.anchors {
      seeds.append([1, 0] + Array(PEM.encode(certificate: anchor.certificate.der).utf8))
      let settings = JSON.members([
        "doc_types": .strings(anchor.docTypes ?? [Self.docTypes[0]]),
        "ekus": anchor.extendedKeyUsages.map { .strings($0.sorted()) },
        "max_path_length": .integer(Int64(anchor.maxPathLength)), "tier": "test",
        "relax": .strings(TrustAnchor.relaxable.map(\.rawValue).sorted()),
      ])
      seeds.append([2, 0] + settings.serialized())
    }
    self.seeds = seeds
    self.trusted = trusted
  }

  private static let docTypes = ["org.iso.18013.5.1.mDL", "org.iso.23220.photoid.1"]

  func run(_ input: [UInt8]) {
    var choices = Choices(input)
    let form = Form(rawValue: choices.byte() % Form.allCases.count) ?? .chain
    let docType = Self.docTypes[choices.byte() % Self.docTypes.count]
    switch form {
    case .chain: validate(Self.chain(choices.bytes), docType)
    case .pem: readPEM(String(decoding: choices.bytes, as: UTF8.self))
    case .settings: readSettings(choices.bytes)
    }
  }

  private func validate(_ chain: [ArraySlice<UInt8>], _ docType: String) {
    let path = validator.evaluate(chain: chain, docType: docType, at: now, skew: Limits.clockSkew)
    require(path.isTrusted || path.checks.contains { $0.outcome == .failed }, "a path that is not trusted says why")
    guard path.isTrusted else { return }
    require(chain.first.map { trusted.contains(Array($0)) } == true, "only what an anchor signed is trusted")
    require(path.window?.contains(now) == true, "a trusted path is valid now")
  }

  private func readPEM(_ text: String) {
    let found = PEM.certificates(in: text) ?? []
    require(
      PEM.certificates(in: found.map { PEM.encode(certificate: $0) }.joined()) == found, "PEM is written as it was read"
    )
    for der in found {
      guard let certificate = try? Certificate(der: der) else { continue }
      require(certificate.der == der, "a certificate is the bytes that it came in")
    }
  }

  private func readSettings(_ bytes: [UInt8]) {
    guard let anchor = try? TrustAnchor(certificate: validator.anchors[0].certificate, settings: bytes, source: "fuzz")
    else { return }
    require(anchor.relaxed.isSubset(of: TrustAnchor.relaxable), "settings relax what may be relaxed")
    require((0...8).contains(anchor.maxPathLength), "and no path is longer than eight")
  }

  private static func chain(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var chain: [ArraySlice<UInt8>] = []
    var rest = bytes[...]
    while rest.count >= 2 {
      let length = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
      chain.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return chain
  }
}
