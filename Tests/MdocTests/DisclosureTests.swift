import Base
import CBOR
import Mdoc
import Testing

@testable import Mock

/// A genuine document that discloses nothing proves only that it exists, and the report says so.
@Suite struct DisclosureTests {
  let attack: Attack

  init() throws { attack = try Attack(docTypes: [DocType.mDL]) }

  private func warnings(_ verdict: Verdict) -> [Code] {
    verdict.report.checks.filter { $0.outcome == .warning }.map(\.code)
  }

  /// A character of an unprotected name is changed: every signature is valid, but no element remains.
  private let renamed = MockMutation(Stages.document) { document in
    document.nested("issuerSigned") {
      $0["nameSpacez"] = $0["nameSpaces"]
      $0["nameSpaces"] = nil
    }
  }

  @Test func `a genuine answer with nothing in it warns`() throws {
    let response = try attack.response(renamed)
    let verdict = attack.verify(response, request: nil)
    #expect(verdict.accepted?.disclosesSomething == false)
    #expect(warnings(verdict) == [.nothingDisclosed])
    let warning = verdict.report.checks.first { $0.outcome == .warning }
    #expect(warning?.detail?.hasPrefix("no requested element was returned") == true)
    let strict = attack.verify(response, request: nil, isStrict: true)
    #expect(strict.report.reasons.map(\.code).contains(.nothingDisclosed))
  }

  @Test func `where all that was asked for is optional it warns, and says that the rest is left out`() throws {
    var request = Attack.request
    request.documents[0].elements = [
      ElementRequest(ElementReference(Namespace.mDL, "not_there"), isRequired: false)
    ]
    let verdict = try attack.verify(attack.response(.none), request: request)
    #expect(verdict.accepted?.disclosesSomething == false)
    let check = verdict.report.checks.first { $0.code == .nothingDisclosed }
    #expect(check?.outcome == .warning && check?.detail?.hasSuffix("unrequested elements are omitted") == true)
  }

  @Test func `one element, or an answer about an age, is something`() throws {
    let response = try attack.response(.none)
    for request in [nil, Attack.request] {
      let verdict = attack.verify(response, request: request)
      #expect(verdict.accepted?.disclosesSomething == true)
      #expect(warnings(verdict) == [])
    }
    var ages = Attack.request
    ages.documents[0].elements = []
    ages.documents[0].ageOver = [21]
    #expect(attack.verify(response, request: ages).accepted?.disclosesSomething == true)
  }

  /// Each map of a response where a member is ignored.
  private static let unread: [(place: String, mutation: MockMutation)] = [
    ("DeviceResponse", .init(Stages.response) { $0.fields["x"] = "Ada" }),
    ("DeviceResponse, a number", .init(Stages.response) { $0.fields[7] = "Ada" }),
    ("document", .init(Stages.document) { $0["x"] = "Ada" }),
    ("issuerSigned", .init(Stages.document) { $0.nested("issuerSigned") { $0["x"] = "Ada" } }),
    ("deviceSigned", .init(Stages.deviceSigned) { $0["x"] = "Ada" }),
    ("deviceAuth", .init(Stages.deviceSigned) { $0.nested("deviceAuth") { $0["x"] = "Ada" } }),
    ("item", .init(Stages.items) { try $0.changeTarget { $0.fields["x"] = "Ada" } }),
    (
      "zkDocuments",
      .init(Stages.response) { $0.fields["zkDocuments"] = [["documentData": .bytes([0]), "proof": .bytes([0])]] }
    ),
    ("encryptedDocuments", .init(Stages.response) { $0.fields["encryptedDocuments"] = [["enc": .bytes([0])]] }),
  ]

  @Test func `an answer with something unread may not be kept as it came`() throws {
    var attack = attack
    attack.mock = MockRequest(documents: [.init(docType: DocType.mDL, elements: [(Namespace.mDL, "given_name")])])
    var request = Attack.request
    request.documents[0].elements = [
      ElementRequest(ElementReference(Namespace.mDL, "given_name"), intentToRetain: true)
    ]
    let whole = try attack.verify(attack.response(.none), request: request)
    #expect(whole.accepted?.retention.isIntended == true)
    // Known and empty members do not count as unread.
    let known: [MockMutation] = [
      .init(Stages.response) { $0.fields["zkDocuments"] = [] },
      .init(Stages.document) { $0["errors"] = ["x": ["y": 0]] },
    ]
    for mutation in known {
      #expect(try attack.verify(attack.response(mutation), request: request).accepted?.retention.isIntended == true)
    }
    for (place, mutation) in Self.unread {
      let verdict = try attack.verify(attack.response(mutation), request: request)
      #expect(verdict.accepted != nil, "\(place)")
      #expect(verdict.accepted?.retention == Retention.none, "\(place)")
    }
  }

  @Test func `what is refused is not said to disclose nothing`() throws {
    let verdict = try attack.verify(attack.response(renamed), request: Attack.request)
    #expect(verdict.report.reasons.map(\.code) == [.elementMissing])
    #expect(verdict.report.checks.first { $0.code == .nothingDisclosed }?.outcome == .notRun)
  }

  @Test func `nor is an answer that lacks a document, or of which one document lacks an element`() throws {
    var two = try Attack(docTypes: [DocType.mDL, DocType.photoID])
    two.documents.append(MockPerson.photoID)
    two.mock = .anyOf
    let photo = ElementRequest(ElementReference(Namespace.iso23220, "not_there"))
    let request = PresentationRequest(
      documents: Attack.request.documents + [DocumentRequest(docType: DocType.photoID, elements: [photo])],
      requiresAllDocuments: true)
    for (attack, code) in [(attack, Code.documentMissing), (two, .elementMissing)] {
      let verdict = try attack.verify(attack.response(.none), request: request)
      #expect(verdict.report.reasons.map(\.code) == [code])
      #expect(verdict.report.checks.first { $0.code == .nothingDisclosed }?.outcome == .notRun, "\(code)")
    }
  }

  /// The result is the full document; the other one's missing elements are a warning. Nothing else is forgiven.
  @Test func `asked for any one of several, a document beside the full one may lack elements`() throws {
    var attack = try Attack(docTypes: [DocType.mDL, DocType.photoID])
    attack.documents.append(MockPerson.photoID)
    attack.mock = .anyOf
    let missing = ElementRequest(ElementReference(Namespace.iso23220, "not_there"))
    func photo(_ change: (inout DocumentRequest) -> Void = { _ in }) -> DocumentRequest {
      var photo = DocumentRequest(docType: DocType.photoID, elements: [missing])
      change(&photo)
      return photo
    }
    let both = try attack.response(.none)
    for documents in [Attack.request.documents + [photo()], [photo()] + Attack.request.documents] {
      let verdict = attack.verify(both, request: PresentationRequest(documents: documents))
      #expect(verdict.accepted?.documents.map(\.docType) == [DocType.mDL])
      #expect(verdict.accepted?.leavesUnread == true)
      let check = verdict.report.documents[1].checks.first { $0.code == .elementMissing }
      #expect(check?.outcome == .warning)
      #expect(check?.detail?.hasSuffix("not_there; another document satisfies the request") == true)
      // Strict mode forgives nothing.
      let strict = attack.verify(both, request: PresentationRequest(documents: documents), isStrict: true)
      #expect(strict.report.reasons.map(\.code).contains(.elementMissing))
    }
    func codes(_ documents: [DocumentRequest], all: Bool = false, _ response: [UInt8]? = nil) -> [Code] {
      let request = PresentationRequest(documents: documents, requiresAllDocuments: all)
      return attack.verify(response ?? both, request: request).report.reasons.map(\.code)
    }
    let license = Attack.request.documents
    #expect(codes(license + [photo()], all: true) == [.elementMissing])
    // A document that lacks an element and also fails another requested check.
    let young = photo {
      $0.elements.append(ElementRequest(ElementReference(Namespace.iso23220, "birth_date")))
      $0.minimumAge = 99
    }
    #expect(codes(license + [young]) == [.elementMissing, .ageBelowMinimum])
    // None is full.
    var poor = license[0]
    poor.elements = [ElementRequest(ElementReference(Namespace.mDL, "not_there"))]
    #expect(codes([poor, photo()]) == [.elementMissing, .elementMissing])
    // A document that is not authentic rejects the response, whether or not it lacks elements.
    let second = try #require(try CBORItem(parsing: both)[key: "documents"]?.elements.map(Array.init)?.last)
    var forged = both
    forged[second.encoded.endIndex - 1] ^= 1
    let birth = DocumentRequest(
      docType: DocType.photoID, elements: [ElementRequest(ElementReference(Namespace.iso23220, "birth_date"))])
    #expect(codes(license + [birth]) == [])
    for other in [photo(), birth] { #expect(codes(license + [other], forged) == [.deviceSignatureInvalid]) }
  }

  /// A document without requested elements is not in the result if another document discloses something.
  @Test func `asked for any one of several, the result is a document that discloses something`() throws {
    var attack = try Attack(docTypes: [DocType.mDL, DocType.photoID])
    attack.documents.append(MockPerson.photoID)
    attack.mock = .anyOf
    let both = try attack.response(.none)
    func empty(_ docType: String, _ namespace: String) -> DocumentRequest {
      let absent = ElementRequest(ElementReference(namespace, "not_there"), isRequired: false)
      return DocumentRequest(docType: docType, elements: [absent])
    }
    let photo = empty(DocType.photoID, Namespace.iso23220)
    let full = attack.verify(both, request: PresentationRequest(documents: [photo] + Attack.request.documents))
    #expect(full.accepted?.documents.map(\.docType) == [DocType.mDL])
    let nothing = attack.verify(
      both, request: PresentationRequest(documents: [photo, empty(DocType.mDL, Namespace.mDL)]))
    #expect(nothing.report.checks.first { $0.code == .nothingDisclosed }?.outcome == .warning)
  }

  /// As wallets of the EU do. The first requested document is shown, since the others may belong to another person. A
  /// document that was not requested, or a second one of a type, is surplus.
  @Test func `asked for any one of several, a wallet may return each that it has, once`() throws {
    var attack = try Attack(docTypes: [DocType.mDL, DocType.photoID])
    attack.documents.append(MockPerson.photoID)
    attack.mock = .anyOf
    let photo = DocumentRequest(
      docType: DocType.photoID, elements: [ElementRequest(ElementReference(Namespace.iso23220, "birth_date"))])
    let anyOf = PresentationRequest(documents: Attack.request.documents + [photo])
    let both = try attack.response(.none)
    for documents in [anyOf.documents, anyOf.documents.reversed()] {
      let accepted = attack.verify(both, request: PresentationRequest(documents: documents)).accepted
      #expect(accepted?.documents.map(\.docType) == [documents[0].docType])
      #expect(accepted?.documents.map(\.requestIndex) == [0] && accepted?.leavesUnread == true)
    }
    #expect(
      attack.verify(both, request: Attack.request).report.reasons.map(\.code).first == .documentUnexpected)
    let twice = try attack.response(
      .init(Stages.response) { draft in draft.documents = [draft.documents[0], draft.documents[0]] })
    #expect(attack.verify(twice, request: anyOf).report.reasons.map(\.code).first == .documentUnexpected)
  }
}
