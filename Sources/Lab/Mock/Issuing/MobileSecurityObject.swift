import Base
import CBOR
import Cryptography

/// The dates of a mobile security object, as CBOR so that they can be wrong.
struct ValidityInfo: Sendable {
  var signed: CBORValue
  var validFrom: CBORValue
  var validUntil: CBORValue
  var expectedUpdate: CBORValue?

  init(signed: Timestamp, validFrom: Timestamp, validUntil: Timestamp) {
    self.signed = .tdate(signed)
    self.validFrom = .tdate(validFrom)
    self.validUntil = .tdate(validUntil)
  }

  var value: CBORValue {
    var fields = MapDraft([("signed", signed), ("validFrom", validFrom), ("validUntil", validUntil)])
    fields["expectedUpdate"] = expectedUpdate
    return fields.value
  }
}

/// MobileSecurityObject (ISO/IEC 18013-5, 9.1.2.4), its members in the order of the standard's CDDL.
func mobileSecurityObject(_ setup: AnswerSetup, digests: [DigestNamespace], deviceKey: PublicKey) -> MapDraft {
  var deviceKeyInfo = MapDraft([("deviceKey", COSEKey.fields(of: deviceKey).value)])
  deviceKeyInfo["keyAuthorizations"] = setup.keyAuthorizations
  var fields = MapDraft([
    ("version", "1.0"),
    ("digestAlgorithm", .text(setup.digestAlgorithmName)),
    (
      "valueDigests",
      .map(
        digests.map { namespace in
          (.text(namespace.name), .map(namespace.digests.map { (.unsigned($0.id), .bytes($0.digest)) }))
        })
    ),
    ("deviceKeyInfo", deviceKeyInfo.value),
    ("docType", .text(setup.data.docType)),
    ("validityInfo", setup.validity.value),
  ])
  fields["status"] = setup.status
  return fields
}
