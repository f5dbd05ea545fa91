import Base
import CBOR
import Mdoc
import Testing

@testable import Mock

/// Names are bytes. Canonically equivalent strings, which Swift treats as equal, are different names.
@Suite struct NameConfusionTests {
  static let composed = "org.example.caf\u{e9}"
  static let decomposed = "org.example.cafe\u{301}"

  let attack: Attack

  init() throws { attack = try Attack() }

  @Test func anAuthorisedNamespaceIsNotItsEquivalent() throws {
    for authorizations in [
      CBORValue.map([("nameSpaces", .array([.text(Self.composed)]))]),
      .map([("dataElements", .map([(.text(Self.composed), .array(["claim"]))]))]),
    ] {
      func signing(in namespace: String) -> MockMutation {
        .init(Stages.setup) { setup in
          setup.keyAuthorizations = authorizations
          setup.deviceSigned = [.init(namespace, [("claim", "yes")])]
        }
      }
      #expect(try attack.codes(signing(in: Self.composed)) == [])
      #expect(try attack.codes(signing(in: Self.decomposed)) == [.deviceElementUnauthorized])
    }
  }

  @Test func aDocumentTypeIsNotItsEquivalent() throws {
    var attack = attack
    attack.documents[0].docType = Self.composed
    attack.mock.documents[0].docType = Self.composed
    let request = PresentationRequest(documents: [DocumentRequest(docType: Self.composed, elements: [])])
    let other = PresentationRequest(documents: [DocumentRequest(docType: Self.decomposed, elements: [])])
    #expect(try attack.codes(.none, request: request) == [])
    #expect(try attack.codes(.none, request: other) == [.docTypeNotRequested])
    let swapped =
      MockMutation(Stages.deviceAuth) { $0.docType = Self.decomposed }
      + MockMutation(Stages.document) { $0["docType"] = .text(Self.decomposed) }
    #expect(try attack.codes(swapped, request: other) == [.msoDocTypeMismatch])
  }

  @Test func aRequestedElementIsNotItsEquivalent() throws {
    var attack = attack
    attack.documents[0][Namespace.mDL, "caf\u{e9}"] = "signed"
    attack.mock.documents[0].elements.append((Namespace.mDL, "caf\u{e9}"))
    func request(_ identifier: String) -> PresentationRequest {
      let element = ElementRequest(ElementReference(Namespace.mDL, identifier))
      return PresentationRequest(documents: [DocumentRequest(docType: DocType.mDL, elements: [element])])
    }
    #expect(try attack.codes(.none, request: request("caf\u{e9}")) == [])
    #expect(try attack.codes(.none, request: request("cafe\u{301}")) == [.elementMissing])
  }

  @Test func aNamespaceTwiceByEquivalenceHasNoDigests() throws {
    var attack = attack
    attack.documents[0][Self.composed, "claim"] = "signed"
    attack.mock.documents[0].elements.append((Self.composed, "claim"))
    let doubled = MockMutation(Stages.disclosure) { draft in
      guard let index = draft.namespaces.firstIndex(where: { $0.name == Self.composed }) else { return }
      draft.namespaces.append(IssuedNamespace(name: Self.decomposed, items: draft.namespaces[index].items))
    }
    #expect(try attack.codes(doubled) == [.digestMissing])
  }

  /// U+212A KELVIN SIGN is canonically equivalent to "K".
  @Test func anIssuingCountryIsNotItsEquivalent() throws {
    var attack = attack
    attack.documents[0][Namespace.mDL, "issuing_country"] = "\u{212a}R"
    let korean: MockMutation = .init(Stages.setup) { setup in
      setup.signer.certificate.subject.set(CertificateName.country, to: DER.printableString("KR"))
    }
    #expect(
      try attack.codes(korean) == [.certificateJurisdictionMismatch, .issuerJurisdictionMismatch])
    attack.documents[0][Namespace.mDL, "issuing_country"] = "KR"
    #expect(try attack.codes(korean) == [.certificateJurisdictionMismatch])
  }

  /// The first of two namespaces with the element must not shield the second.
  @Test func everyIssuingCountryIsCompared() throws {
    var attack = attack
    for country in ["US", "DE"] {
      attack.documents[0][Namespace.iso23220, "issuing_country"] = .text(country)
      attack.mock.documents[0].elements.append((Namespace.iso23220, "issuing_country"))
      let expected: [Code] = country == "US" ? [] : [.issuerJurisdictionMismatch]
      #expect(try attack.codes(.none) == expected)
    }
  }

  @Test(arguments: [
    "1.0\u{301}", "1.\u{660}", "1.\u{b2}", "1.0.0", "1.", ".0", "1", "01.0", " 1.0", "1.0\u{0}", "1.-1",
  ])
  func aVersionHasASCIIDigitsOnly(version: String) throws {
    #expect(
      try attack.codes(.init(Stages.response) { $0.fields["version"] = .text(version) }) == [
        .responseVersionUnsupported
      ])
  }

  @Test(arguments: ["SHA-256\u{0}", "SHA\u{2010}256", "sha-256", "\u{ff33}HA-256", ""])
  func aDigestAlgorithmIsItsExactName(name: String) throws {
    #expect(
      try attack.codes(.init(Stages.mso) { $0["digestAlgorithm"] = .text(name) }) == [.digestAlgorithmUnsupported])
  }

  @Test func namesInReportsAreBoundedAndPlain() throws {
    // Characters, as Swift counts, of 61 bytes each; and what moves a terminal's cursor.
    let zalgo = String(repeating: "a" + String(repeating: "\u{301}", count: 30), count: 3_000)
    let mutation =
      MockMutation(Stages.deviceAuth) { $0.docType = "\u{1b}[2J\n" + zalgo }
      + MockMutation(Stages.document) { $0["docType"] = .text("\u{1b}[2J\n" + zalgo) }
    let verdict = try attack.verify(attack.response(mutation), request: Attack.request)
    #expect(verdict.report.reasons.map(\.code) == [.docTypeNotRequested, .msoDocTypeMismatch])
    let document = try #require(verdict.report.documents.first)
    let texts = [document.docType] + document.checks.compactMap(\.detail)
    #expect(texts.allSatisfy { $0.utf8.count < 300 && !$0.unicodeScalars.contains { $0.value < 0x20 } })
  }
}
