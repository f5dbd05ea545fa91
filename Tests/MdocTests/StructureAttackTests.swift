import Base
import CBOR
import Cryptography
import Mdoc
import Testing

@testable import Mock

/// Structures that are almost correct.
@Suite struct StructureAttackTests {
  let attack: Attack

  init() throws { attack = try Attack() }

  /// The map around the device key is not a device key, even if it has the same members.
  @Test func deviceKeyInfoIsNoDeviceKey() throws {
    let mutation = MockMutation(Stages.mso) { mso in
      mso["deviceKeyInfo"] = MapDraft(MapDraft(mso["deviceKeyInfo"])["deviceKey"]).value
    }
    #expect(try attack.codes(mutation) == [.deviceKeyInvalid])
  }

  @Test func anIssuerSignedAloneIsNamed() throws {
    let response = try CBORItem(parsing: attack.response(.none))
    let alone = try #require(response[key: "documents"]?.elements?.first(where: { _ in true })?[key: "issuerSigned"])
    let check = attack.verify(Array(alone.encoded), request: nil).report.checks.first { $0.outcome == .failed }
    #expect(check?.code == .responseMalformed && check?.detail?.contains("IssuerSigned") == true)
  }

  @Test(arguments: [UInt64(1) << 31, 1 << 32, UInt64(Int64.max) + 1, .max])
  func largeDigestIdentifiersAreLookedUpWithAWarning(id: UInt64) throws {
    let mutation = MockMutation(Stages.items) { draft in try draft.changeTarget { $0.digestID = id } }
    let response = try attack.response(mutation)
    let verdict = attack.verify(response, request: Attack.request)
    #expect(verdict.accepted != nil)
    let warnings = verdict.report.documents.flatMap(\.checks).filter { $0.outcome == .warning }
    #expect(warnings.map(\.code).contains(.digestIDOutOfRange))
    let strict = attack.verify(response, request: Attack.request, isStrict: true)
    #expect(strict.report.reasons.map(\.code).contains(.digestIDOutOfRange))
  }

  /// The digest under another large identifier is not the item's.
  @Test func largeDigestIdentifiersAreNotConfused() throws {
    let mutation =
      MockMutation(Stages.items) { draft in try draft.changeTarget { $0.digestID = UInt64(Int64.max) + 2 } }
      + MockMutation(Stages.disclosure) { draft in try draft.changeTarget { $0.digestID = 1 << 63 } }
    #expect(try attack.codes(mutation) == [.digestMissing])
  }

  /// Each would get a report of its own.
  @Test func moreDocumentsThanAnyAnswerHasAreRefusedAsAWhole() throws {
    func response(_ count: Int) throws -> [UInt8] {
      try attack.response(
        .init(Stages.response) { draft in
          let document = try #require(draft.documents.first)
          draft.documents = [CBORValue](repeating: document, count: count)
        })
    }
    _ = try DeviceResponse(parsing: response(Limits.documents))
    let error = #expect(throws: MdocParseError.self) { try DeviceResponse(parsing: response(Limits.documents + 1)) }
    #expect(error?.code == .documentUnexpected)
  }

  @Test(arguments: [CBORValue.text("0"), .null, .bytes([0])])
  func aDocumentErrorIsANumber(value: CBORValue) throws {
    let mutation = MockMutation(Stages.response) { $0.fields["documentErrors"] = [[.text(DocType.photoID): value]] }
    #expect(try attack.codes(mutation) == [.responseMalformed])
  }

  @Test(arguments: [
    [0x80], [0x82, 0xf6, 0xf6], [0x84, 0xf6, 0xf6, 0xf6, 0xf6], [0xa3, 0, 0, 1, 0, 2, 0], [0x83, 0xf6],
  ])
  func aTranscriptIsAnArrayOfThree(bytes: [UInt8]) {
    #expect(throws: MdocParseError.self) { try SessionTranscript(encoded: bytes) }
  }

  static let strangeNumbers: [CBORValue] = [
    .negative(0), .double(0), .null, .text("0"), .tagged(2, .bytes([0])), .bool(false), .array([0]),
  ]

  @Test(arguments: strangeNumbers)
  func onlyUnsignedIntegersAreNumbers(value: CBORValue) throws {
    #expect(try attack.codes(.init(Stages.response) { $0.fields["status"] = value }) == [.responseMalformed])
    let mutation = MockMutation(Stages.items) { draft in try draft.changeTarget { $0.fields["digestID"] = value } }
    #expect(try attack.codes(mutation) == [.itemMalformed])
  }

  @Test(arguments: [1, 10, UInt64(UInt32.max) + 1, .max] as [UInt64])
  func everyOtherStatusIsAnError(status: UInt64) throws {
    #expect(
      try attack.codes(.init(Stages.response) { $0.fields["status"] = .unsigned(status) }) == [.responseStatusNotOK])
  }

  @Test func tagsAroundTagsAreNotLookedThrough() throws {
    let wrapped = MockMutation(Stages.disclosure) { draft in
      try draft.changeTarget { $0.presented = .tagged(24, .tagged(24, .bytes($0.bytes))) }
    }
    #expect(try attack.codes(wrapped) == [.itemNotTag24])
    let twice = MockMutation(Stages.disclosure) { draft in
      try draft.changeTarget { $0.presented = .tagged(24, .bytes($0.bytes)) }
    }
    #expect(try attack.codes(twice) == [.itemMalformed])
    let signature = MockMutation(Stages.document) { document in
      document.nested("issuerSigned") { $0["issuerAuth"] = $0["issuerAuth"].map { .tagged(18, $0) } }
    }
    #expect(try attack.codes(signature) == [.issuerAuthMalformed])
  }

  @Test(arguments: ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2262-04-12T00:00:00Z"])
  func farTimesDoNotOverflow(time: String) throws {
    for member in ["signed", "validFrom", "validUntil"] {
      let mutation = MockMutation(Stages.mso) { $0.nested("validityInfo") { $0[member] = .tagged(0, .text(time)) } }
      _ = try attack.codes(mutation)
    }
    for skew in [Int64.max, 0, .min] {
      let verifier = MdocVerifier(trust: attack.trust, clockSkew: skew)
      #expect(verifier.clockSkew >= 0)
      for now in [Int64.min, .max] {
        _ = attack.trust.evaluate(
          chain: [[1, 2, 3]], docType: "", at: Timestamp(secondsSince1970: now), skew: verifier.clockSkew)
      }
    }
  }

  static let ages: [CBORValue] = [
    .unsigned(.max), .unsigned(UInt64(Int64.max)), .negative(0), .negative(.max), .double(.nan),
  ]

  @Test(arguments: ages)
  func strangeAgesAndYearsNeitherCrashNorProveAnything(value: CBORValue) throws {
    for identifier in ["age_in_years", "age_birth_year"] {
      var attack = attack
      attack.documents[0][Namespace.mDL, identifier] = value
      attack.documents[0].ageThresholds = []
      attack.mock.documents[0].elements = [(Namespace.mDL, identifier), (Namespace.mDL, "given_name")]
      attack.mock.documents[0].ageOver = []
      var request = Attack.request
      request.documents[0].elements.append(ElementRequest(ElementReference(Namespace.mDL, identifier)))
      request.documents[0].minimumAge = 21
      let verdict = try attack.verify(attack.response(.none), request: request)
      let answers = verdict.accepted?.documents.flatMap(\.ageAnswers) ?? []
      // An issuer may sign nine quintillion years; a value that is not a non-negative Int64 proves nothing.
      let isBelieved = identifier == "age_in_years" && isSmall(value)
      #expect(!answers.isEmpty == isBelieved)
      let all = try attack.verify(attack.response(.none), request: nil)
      #expect(all.accepted != nil)
    }
  }

  private func isSmall(_ value: CBORValue) -> Bool {
    if case .unsigned(let number) = value { number <= UInt64(Int64.max) } else { false }
  }

  @Test func aDeviceSignedElementNeverStandsInForAnIssuersOne() throws {
    let mutation = MockMutation(Stages.setup) { setup in
      setup.keyAuthorizations = ["nameSpaces": [.text(Namespace.mDL)]]
      setup.withheld = [(Namespace.mDL, "given_name")]
      setup.deviceSigned = [.init(Namespace.mDL, [("given_name", "Mallory")])]
    }
    #expect(try attack.codes(mutation) == [.elementMissing])
    let both = MockMutation(Stages.setup) { setup in
      setup.keyAuthorizations = ["nameSpaces": [.text(Namespace.mDL)]]
      setup.deviceSigned = [.init(Namespace.mDL, [("given_name", "Mallory")])]
    }
    #expect(try attack.codes(both) == [.elementDuplicate])
  }

  @Test func emptyNamesAreNamesLikeOthers() throws {
    var attack = attack
    attack.documents[0]["", ""] = "empty"
    attack.mock.documents[0].elements.append(("", ""))
    #expect(try attack.codes(.none) == [])
    var request = Attack.request
    request.documents[0].elements = [ElementRequest(ElementReference("", ""))]
    let document = try attack.verify(attack.response(.none), request: request).accepted?.documents.first
    #expect(document?.elements.map(\.value) == [.text("empty")])
  }

  /// Two requests for one type are separate: the second document satisfies the second request.
  @Test func theSecondDocumentOfATypeAnswersTheSecondRequest() throws {
    var attack = attack
    attack.mock.documents.append(attack.mock.documents[0])
    attack.mock.documents[1].copy = 1
    var request = Attack.request
    request.requiresAllDocuments = true
    request.documents.append(
      DocumentRequest(
        docType: DocType.mDL, elements: [ElementRequest(ElementReference(Namespace.mDL, "not_there"))]))
    // One document twice does not count as two.
    #expect(try attack.codes(.none, request: request) == [.documentMissing, .elementMissing])
    attack.documents.append(attack.documents[0])
    attack.documents[1][Namespace.mDL, "document_number"] = "N0002"
    let response = try attack.response(.none)
    #expect(attack.verify(response, request: request).report.reasons.map(\.code) == [.elementMissing])
    request.documents[1].elements = [ElementRequest(ElementReference(Namespace.mDL, "family_name"))]
    let accepted = attack.verify(response, request: request).accepted
    #expect(accepted?.documents.map { $0.elements.map(\.reference.identifier) } == [["given_name"], ["family_name"]])
  }
}
