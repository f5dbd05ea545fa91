import Base
import CBOR

extension MockVariant {
  /// Wrong DeviceResponses around right documents (ISO/IEC 18013-5, 8.3.2.1.2.2).
  @MockVariantList static var response: [MockVariant] {
    response("response-version-2.0", "The DeviceResponse has version 2.0.", "A16 I13", .responseVersionUnsupported) {
      $0.fields["version"] = "2.0"
    }
    response("response-version-9.9", "The DeviceResponse has version 9.9.", "I13", .responseVersionUnsupported) {
      $0.fields["version"] = "9.9"
    }
    response("response-version-2", "The DeviceResponse has version \"2\".", "I13", .responseVersionUnsupported) {
      $0.fields["version"] = "2"
    }
    response("response-version-integer", "The DeviceResponse's version is a number.", "I13", .responseMalformed) {
      $0.fields["version"] = 1
    }
    response("response-version-absent", "The DeviceResponse has no version.", "", .responseMalformed) {
      $0.fields["version"] = nil
    }
    response("response-status-absent", "The DeviceResponse has no status.", "", .responseMalformed) {
      $0.fields["status"] = nil
    }
    for status: Int64 in [10, 11, 12] {
      response(
        "response-status-\(status)", "The wallet reports status \(status) beside a document.",
        status == 10 ? "A16 E18" : "E18", .responseStatusNotOK
      ) { $0.fields["status"] = .integer(status) }
    }
    response("documents-empty", "The array of documents is empty.", "E17", .documentsMissing) { $0.documents = [] }
    response("documents-absent", "There is no `documents`.", "E17", .documentsMissing) { $0.fields["documents"] = nil }
    response("document-twice", "The same document is returned twice.", "E21", .documentUnexpected) {
      $0.documents += $0.documents.prefix(1)
    }
    response("document-second", "A second, right document of the same type is returned.", "A16", .documentUnexpected) {
      $0.documents.append(try $0.anotherDocument("second document", .none))
    }
    MockVariant(
      "document-second-untrusted",
      "The document lacks an element; a second one, from an unknown issuer, supplies it.", cases: "E20",
      codes: [.documentUnexpected, .issuerUnknown],
      .init(
        setup: { $0.withheld.append($0.anyRequested) },
        response: {
          $0.documents.append(try $0.anotherDocument("untrusted document", .setup { try $0.useUnknownRoot() }))
        }))
    MockVariant(
      "document-unrequested", "The wallet returns a right document of a type that was not asked for.", cases: "E16",
      codes: [.docTypeNotRequested],
      .setup { setup in
        setup.data = setup.unrequestedDocument
        for element in setup.data.namespaces.first?.elements.prefix(3) ?? [] {
          setup.added.append((setup.mainNamespace, element.identifier))
        }
      })
    response(
      "document-errors-returned", "`documentErrors` names the document that is returned.", "E19", .documentErrorsPresent
    ) { $0.setDocumentErrors(for: $0.request.documents.first?.docType ?? MockDocType.mDL) }
    response(
      "document-errors-unrequested", "`documentErrors` names a type that was not requested.", "E19",
      .documentErrorsPresent
    ) { $0.setDocumentErrors(for: "org.example.never-requested.1") }
    MockVariant(
      "document-errors-other-requested",
      "`documentErrors` names the other type of an any-of request.",
      cases: "E19", request: .anyOf,
      .response { draft in
        guard draft.request.documents.count > 1, let other = draft.request.documents.last else {
          throw MockError.nothingToChange("only one type of document is requested")
        }
        draft.documents = Array(draft.documents.prefix(1))
        draft.setDocumentErrors(for: other.docType)
      })
    response("document-errors-text", "`documentErrors` has a text for a number.", "", .responseMalformed) {
      $0.fields["documentErrors"] = [["org.example.never-requested.1": "0"]]
    }
    response(
      "zk-documents-alone", "The answer holds a zero-knowledge proof in place of a document.", "",
      .zeroKnowledgeUnsupported
    ) {
      $0.fields["documents"] = nil
      $0.fields["zkDocuments"] = [["documentData": .bytes([0]), "proof": .bytes([0])]]
    }
    response(
      "encrypted-documents-alone", "The answer holds an encrypted document in place of a document.", "",
      .encryptedDocumentsUnsupported
    ) {
      $0.fields["documents"] = nil
      $0.fields["encryptedDocuments"] = [["enc": .bytes([0]), "cipherText": .bytes([0])]]
    }
    MockVariant(
      "zk-documents-beside", "A zero-knowledge proof that nobody asked for stands beside a right document.",
      .response { $0.fields["zkDocuments"] = [["documentData": .bytes([0]), "proof": .bytes([0])]] })
  }

  private static func response(
    _ name: String, _ summary: String, _ cases: String, _ code: Code,
    _ change: @escaping MockChange<ResponseDraft>
  ) -> MockVariant {
    MockVariant(name, summary, cases: cases, codes: [code], .response(change))
  }
}

extension ResponseDraft {
  /// Sets error 0 for this document type: the document is not returned.
  fileprivate mutating func setDocumentErrors(for docType: String) {
    fields["documentErrors"] = [[.text(docType): 0]]
  }
}

extension MockVariant {
  /// Slips of encoders, mostly a member that is null or empty where it must be left out. A verifier ignores such a
  /// member if it has one meaning only. Otherwise the answer is refused.
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
    tolerated(
      "slip-expected-update-null", "The signed `expectedUpdate` is null.",
      .mso { $0.nested("validityInfo") { $0["expectedUpdate"] = .null } })
    tolerated(
      "slip-expected-update-undefined", "The signed `expectedUpdate` is undefined.",
      .mso { $0.nested("validityInfo") { $0["expectedUpdate"] = .undefined } })
    tolerated(
      "slip-device-payload-attached", "The device signature carries the payload that it signs.",
      .deviceAuth {
        $0.signOnly()
        $0.changeSignature = { $0.presentedPayload = .bytes($0.payload) }
      })
    MockVariant(
      "slip-device-mac-payload-attached", "The MAC carries the payload that it authenticates.",
      warnings: [.responseDeviation], applicability: .deviceMAC,
      .deviceAuth {
        $0.hasSignature = false
        $0.hasMAC = true
        $0.changeMAC = { $0.isAttached = true }
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

  /// Changes DeviceAuth after it was made with a signature.
  private static func device(_ change: @escaping @Sendable (inout MapDraft) -> Void) -> MockMutation {
    .init(deviceAuth: { $0.signOnly() }, deviceSigned: { $0.nested("deviceAuth", change) })
  }
}

extension CBORValue {
  /// The simple value 23 (undefined), which no right answer has.
  fileprivate static let undefined = CBORValue.encoded([0xf7])
}
