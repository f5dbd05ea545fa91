import Base
import CBOR
import COSE
import JOSE
import PKIX

/// What a published list says, nothing of it verified: for people who want to look into a file. There is no way from
/// here to a trust anchor: that takes `VICALReader` or `TrustedEntityListReader`.
public struct UnverifiedList: Sendable {
  public let contents: Contents
  /// The certificates that came with the signature, the signer's first; empty where there are none that can be read.
  public let signerChain: [Certificate]

  public enum Contents: Sendable {
    /// With what was found about its entries.
    case vical(VICALContents, findings: [Check])
    /// A list may also be had without its signature, as its bare payload.
    case trustedEntities(TrustedEntityList, isSigned: Bool)
  }

  private static let bounds = CBORLimits(bytes: Limits.listBytes)

  /// Nil where the bytes are no such list in any form.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count <= Limits.listBytes else { return nil }
    if let list = Self.vical(bytes) ?? Self.trustedEntities(bytes) { self = list } else { return nil }
  }

  private init(_ contents: Contents, signerChain: [Certificate] = []) {
    self.contents = contents
    self.signerChain = signerChain
  }

  private static func vical(_ bytes: [UInt8]) -> UnverifiedList? {
    var findings: [Check] = []
    guard let message = try? COSESign1(parsing: CBORItem(parsing: bytes, limits: bounds)),
      let payload = message.payload, payload.bytes != nil,
      let content = try? CBORItem(parsingContentOf: payload, limits: bounds),
      let list = try? VICALContents(reading: content, entryFindings: &findings)
    else { return nil }
    let chain = (message.headers.x5chain ?? []).prefix(Limits.chainCertificates)
    return UnverifiedList(
      .vical(list, findings: findings), signerChain: chain.compactMap { try? Certificate(der: $0) })
  }

  private static func trustedEntities(_ bytes: [UInt8]) -> UnverifiedList? {
    if let list = try? TrustedEntityList(parsing: bytes) {
      return UnverifiedList(.trustedEntities(list, isSigned: false))
    }
    let text = bytes.prefix(bytes.count - bytes.reversed().prefix { $0 == 0x0a || $0 == 0x0d }.count)
    guard let jws = try? CompactJWS(parsing: text, understanding: ["sigT", JWSHeader.Name.issuedAt]),
      let list = try? TrustedEntityList(parsing: jws.payload)
    else { return nil }
    let chain = (jws.header.certificateChain ?? []).prefix(Limits.chainCertificates)
    return UnverifiedList(
      .trustedEntities(list, isSigned: true), signerChain: chain.compactMap { try? Certificate(der: $0) })
  }
}
