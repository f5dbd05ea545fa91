import Base
import CBOR
import Cryptography

/// A VICAL to be made: its signer, the list's members, its entries (ISO/IEC 18013-5, C.1.7).
struct VICALDraft: Sendable {
  let authority: MockAuthority
  let now: Timestamp
  var signer: MockSigner
  /// Without `certificateInfos`.
  var list: MapDraft
  var entries: [CBORValue]
  /// Takes the payload's bytes before they are signed.
  var changePayload: @Sendable ([UInt8]) -> [UInt8] = { $0 }
  /// Takes COSE_Sign1 before it is signed, its four parts afterwards, and the whole.
  var changeMessage: @Sendable (inout COSESign1Draft) -> Void = { _ in }
  var changeParts: @Sendable (inout [CBORValue]) -> Void = { _ in }
  var changeBytes: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  /// The good authority and one for vehicle registrations, in a list of the day.
  init(authority: MockAuthority, at now: Timestamp) throws {
    self.authority = authority
    self.now = now
    signer = try MockSigner(.vicals, authority: authority, under: authority.vicalProvider(), at: now)
    let date = Timestamp(date: now.date)
    list = MapDraft([
      ("version", "1.0"), ("vicalProvider", "mdoc Mock"), ("date", .time(date)),
      ("vicalIssueID", .unsigned(UInt64(max(date.secondsSince1970 / Seconds.day, 0)))),
      ("nextUpdate", .time(date + 2 * Seconds.day)),
    ])
    entries = []
    for kind in [AnchorKind.good, .otherDocType] { entries.append(try entry(of: kind)) }
  }

  func entry(of kind: AnchorKind) throws -> CBORValue {
    let template = try authority.anchorTemplate(kind, at: now)
    return try entry(template, signedBy: authority.certificateIssuer(kind), docTypes: kind.docTypes).value
  }

  /// An entry with everything that it may say of its certificate.
  func entry(
    _ template: CertificateTemplate, signedBy issuer: CertificateIssuer, docTypes: [String]
  ) throws -> MapDraft {
    MapDraft([
      ("certificate", .bytes(try template.signed(by: issuer.key))),
      ("serialNumber", .tagged(2, .bytes(template.serialNumber(signedBy: issuer.key)))),
      ("ski", .bytes(issuer.keyIdentifier)), ("docType", .array(docTypes.map { .text($0) })),
      ("certificateProfile", ["urn:oid:1.0.18013.5.1.7"]), ("issuingAuthority", "mdoc Mock Issuing Authority"),
      ("issuingCountry", .text(authority.country)), ("stateOrProvinceName", .text(authority.stateOrProvince)),
      ("issuer", .bytes(template.issuer.der)), ("subject", .bytes(template.subject.der)),
      ("notBefore", .time(template.notBefore)), ("notAfter", .time(template.notAfter)), ("extensions", .map([])),
    ])
  }

  /// Changes the good authority's entry.
  mutating func changeEntry(_ change: (inout MapDraft) throws -> Void) rethrows {
    var entry = MapDraft(entries.first)
    try change(&entry)
    entries[0] = entry.value
  }

  /// COSE_Sign1 before it is signed.
  func message() throws -> COSESign1Draft {
    var content = list
    content.entries.append(("certificateInfos", .array(entries)))
    var message = COSESign1Draft(
      payload: changePayload(content.value.encoded()), isDetached: false, key: signer.key)
    message.unprotected[33] = try signer.x5chain()
    changeMessage(&message)
    return message
  }

  func encoded() throws -> [UInt8] {
    var parts = try message().parts()
    changeParts(&parts)
    return changeBytes(CBORValue.array(parts).encoded())
  }
}

extension CBORValue {
  /// A `tdate`.
  static func time(_ time: Timestamp) -> CBORValue { .tagged(0, .text(time.description)) }
}
