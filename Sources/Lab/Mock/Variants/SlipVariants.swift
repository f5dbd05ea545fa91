import Base
import CBOR

extension MockVariant {
  /// Slips of encoders: nothing is written where a member must be left out. Where nobody signs the member and it can be
  /// read in one way, it is read past; everywhere else the answer is refused.
  @MockVariantList static var slips: [MockVariant] {
    tolerated(
      "slip-device-mac-null", "`deviceMac` is null beside a device signature.", device { $0["deviceMac"] = .null })
    tolerated(
      "slip-device-mac-undefined", "`deviceMac` is undefined beside a device signature.",
      device { $0["deviceMac"] = .undefined })
    tolerated(
      "slip-device-header-null", "The device signature's unprotected header is null.",
      .deviceSignatureParts { $0[1] = .null })
    tolerated(
      "slip-device-payload-undefined", "The device signature's detached payload is undefined.",
      .deviceSignatureParts { $0[2] = .undefined })
    tolerated(
      "slip-issuer-header-undefined", "The issuer's unprotected header is undefined, the certificates are protected.",
      .init(
        issuerAuth: {
          $0.protected[33] = $0.unprotected[33]
          $0.unprotected[33] = nil
        }, issuerAuthParts: { $0[1] = .undefined }))
    tolerated("slip-errors-null", "The document's `errors` is null.", .document { $0["errors"] = .null })
    tolerated("slip-errors-empty", "The document's `errors` is empty.", .document { $0["errors"] = [:] })
    tolerated(
      "slip-document-errors-null", "`documentErrors` is null.", .response { $0.fields["documentErrors"] = .null })
    tolerated(
      "slip-document-errors-empty", "`documentErrors` is an empty array.",
      .response { $0.fields["documentErrors"] = [] })
    tolerated(
      "slip-other-documents-null", "`zkDocuments` and `encryptedDocuments` are null.",
      .response {
        $0.fields["zkDocuments"] = .null
        $0.fields["encryptedDocuments"] = .null
      })
    refused(
      "slip-documents-null", "`documents` is null.", .documentsMissing, .response { $0.fields["documents"] = .null })
    refused(
      "slip-name-spaces-null", "The issuer's `nameSpaces` is null.", .elementMissing,
      .document { $0.nested("issuerSigned") { $0["nameSpaces"] = .null } })
    refused(
      "slip-device-auth-nulls", "`deviceSignature` and `deviceMac` are both null.", .deviceAuthMissing,
      device {
        $0["deviceSignature"] = .null
        $0["deviceMac"] = .null
      })
    refused(
      "slip-device-name-spaces-null", "The device's `nameSpaces`, which it signs, is null.", .responseMalformed,
      .deviceSigned { $0["nameSpaces"] = .null })
    refused(
      "slip-device-protected-null", "The device signature's protected header is null.", .deviceAuthMalformed,
      .deviceSignatureParts { $0[0] = .null })
    refused(
      "slip-device-signature-tagged", "The device signature is tagged as COSE_Sign1.", .deviceAuthMalformed,
      device { $0["deviceSignature"] = $0["deviceSignature"].map { .tagged(18, $0) } })
    refused(
      "slip-issuer-header-null", "The issuer's unprotected header, with the certificates, is null.",
      .issuerCertificateMissing, applicability: .notAppleInApp, .issuerAuthParts { $0[1] = .null })
    refused("slip-status-null", "`status` is null.", .responseMalformed, .response { $0.fields["status"] = .null })
  }

  private static func tolerated(_ name: String, _ summary: String, _ mutation: MockMutation) -> MockVariant {
    MockVariant(name, summary, warnings: [.responseDeviation], mutation)
  }

  private static func refused(
    _ name: String, _ summary: String, _ code: Code, applicability: Applicability = .anyProtocol,
    _ mutation: MockMutation
  ) -> MockVariant {
    MockVariant(name, summary, codes: [code], applicability: applicability, mutation)
  }

  /// DeviceAuth with a signature, changed.
  private static func device(_ change: @escaping @Sendable (inout MapDraft) -> Void) -> MockMutation {
    .init(deviceAuth: { $0.signOnly() }, deviceSigned: { $0.nested("deviceAuth", change) })
  }
}

extension CBORValue {
  /// The simple value 23, which no right answer has.
  fileprivate static let undefined = CBORValue.encoded([0xf7])
}
