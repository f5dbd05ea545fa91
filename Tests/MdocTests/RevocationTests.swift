import Base
import CBOR
import PKIX
import Presentation
import Testing
import Trust

@testable import Mdoc
@testable import Mock

@Suite struct DeclaredStatusTests {
  private let uri = "https://status.example/1"

  private func declared(_ status: CBORValue) throws -> [DeclaredStatus.Declaration] {
    try DeclaredStatus(parsing: CBORItem(parsing: status.encoded())).declarations
  }

  /// The reason why the only declaration cannot be used; nil if it can.
  private func uncertainty(_ status: CBORValue) throws -> RevocationUncertainty? {
    let declarations = try declared(status)
    guard declarations.count == 1, case .unusable(let uncertainty, _) = declarations[0] else { return nil }
    return uncertainty
  }

  private func statusList(_ index: CBORValue?, uri: CBORValue? = "https://status.example/1") -> CBORValue {
    var info = MapDraft()
    info["idx"] = index
    info["uri"] = uri
    return ["status_list": info.value]
  }

  private func identifierList(_ identifier: CBORValue?) -> CBORValue {
    var info = MapDraft([("uri", .text(uri))])
    info["id"] = identifier
    return ["identifier_list": info.value]
  }

  @Test func aStatusListIsAnIndexAndAnAddress() throws {
    #expect(try declared(statusList(7)) == [.reference(StatusReference(.statusList(index: 7), uri: uri))])
  }

  @Test func anIdentifierListIsBytesAndAnAddress() throws {
    let place = StatusReference.Entry.identifierList(identifier: [1, 2])
    #expect(try declared(identifierList(.bytes([1, 2]))) == [.reference(StatusReference(place, uri: uri))])
  }

  @Test func bothMechanismsAreAsked() throws {
    let status: CBORValue = [
      "identifier_list": ["id": .bytes([9]), "uri": "https://b.example"],
      "status_list": ["idx": 1, "uri": "https://a.example"], "other": 1,
    ]
    #expect(
      try declared(status) == [
        .reference(StatusReference(.statusList(index: 1), uri: "https://a.example")),
        .reference(StatusReference(.identifierList(identifier: [9]), uri: "https://b.example")),
      ])
  }

  @Test func oneThatCannotBeUsedDoesNotHideTheOther() throws {
    let status: CBORValue = [
      "status_list": ["idx": -1, "uri": "https://a.example"],
      "identifier_list": ["id": .bytes([9]), "uri": "https://b.example"],
    ]
    let declared = try declared(status)
    #expect(declared.count == 2)
    guard case .unusable(.statusIndexOutOfRange, _)? = declared.first, case .reference? = declared.last else {
      Issue.record("\(declared)")
      return
    }
  }

  @Test func theCertificateComesWithTheReference() throws {
    let status: CBORValue = ["status_list": ["idx": 0, "uri": .text(uri), "certificate": .bytes([0x30, 0])]]
    let reference = StatusReference(.statusList(index: 0), uri: uri, certificate: [0x30, 0])
    #expect(try declared(status) == [.reference(reference)])
  }

  static let strangeIndices: [CBORValue] = [
    -1, .negative(.max), .unsigned(1 << 63), .unsigned(.max), "0", .bytes([0]), .double(0), .tagged(2, .bytes([1])),
    .null, .bool(true),
  ]

  @Test(arguments: strangeIndices)
  func anIndexIsAnUnsignedIntegerBelowTwoToThe63rd(index: CBORValue) throws {
    #expect(try uncertainty(statusList(index)) == .statusIndexOutOfRange)
  }

  @Test func theLargestIndexIsStillOne() throws {
    let index = UInt64(Int64.max)
    let expected = StatusReference(.statusList(index: index), uri: uri)
    #expect(try declared(statusList(.unsigned(index))) == [.reference(expected)])
  }

  @Test func aReferenceWithoutIndexOrIdentifierIsInvalid() throws {
    #expect(try uncertainty(statusList(nil)) == .statusListInvalid)
    #expect(try uncertainty(identifierList(nil)) == .statusListInvalid)
    #expect(try uncertainty(["status_list": []]) == .statusListInvalid)
    #expect(try uncertainty(["identifier_list": "https://status.example/1"]) == .statusListInvalid)
  }

  /// An issuer's example has the identifier as text, which does not count as bytes.
  @Test func anIdentifierInTextIsNotCoerced() throws {
    #expect(try uncertainty(identifierList("0102")) == .statusListInvalid)
    #expect(try uncertainty(identifierList(1)) == .statusListInvalid)
    #expect(try uncertainty(identifierList(.bytes([]))) == .statusListInvalid)
  }

  @Test func anAddressIsTextOfBoundedLength() throws {
    for wrong in [nil, 1, "", .bytes(Array(uri.utf8)), .tagged(32, .text(uri))] as [CBORValue?] {
      #expect(try uncertainty(statusList(0, uri: wrong)) == .statusListInvalid)
    }
    let longest = String(repeating: "a", count: Limits.listAddressBytes)
    #expect(try uncertainty(statusList(0, uri: .text(longest))) == nil)
    #expect(try uncertainty(statusList(0, uri: .text(longest + "a"))) == .statusListInvalid)
  }

  @Test func aCertificateIsBytesOfBoundedLength() throws {
    let tooLong = CBORValue.bytes([UInt8](repeating: 0, count: Limits.certificateBytes + 1))
    for wrong in ["MIIB", .bytes([]), .array([.bytes([1])]), tooLong] as [CBORValue] {
      let status: CBORValue = ["status_list": ["idx": 0, "uri": .text(uri), "certificate": wrong]]
      #expect(try uncertainty(status) == .statusListInvalid)
    }
  }

  @Test func aStatusOfUnknownMechanismsOrNoneIsUnsupported() throws {
    #expect(try uncertainty([:]) == .mechanismUnsupported)
    #expect(try uncertainty(["bloom_filter": ["uri": .text(uri)]]) == .mechanismUnsupported)
    #expect(try uncertainty([1: 2]) == .mechanismUnsupported)
  }

  @Test(arguments: [1, "status_list", .array([]), .null, .bytes([0xa0])] as [CBORValue])
  func aStatusThatIsNoMapMakesTheObjectMalformed(status: CBORValue) throws {
    #expect(try Attack().codes(.init(Stages.setup) { $0.status = status }) == [.msoMalformed])
  }

  @Test func anObjectWithoutStatusDeclaresNone() throws {
    #expect(DeclaredStatus.none.declarations.isEmpty)
    #expect(DeclaredStatus.none.references.isEmpty)
    #expect(try Attack().codes(.none) == [])
  }

  /// One accent in one scalar or in two: canonically equivalent texts, two addresses.
  @Test func referencesAreToldApartByTheBytesOfTheirAddress() {
    let place = StatusReference.Entry.statusList(index: 0)
    let composed = StatusReference(place, uri: "https://status.example/\u{e9}")
    let decomposed = StatusReference(place, uri: "https://status.example/e\u{301}")
    #expect(composed.uri == decomposed.uri)
    #expect(composed != decomposed)
  }
}

/// A signer that is itself the anchor, whose certificate names a revocation list that no known authority can have
/// signed.
@Suite struct PinnedRevocationTests {
  @Test(
    arguments: [
      (.requireGood, [.crlInvalid]), (.allowUndetermined, []), (.off, []),
    ] as [(RevocationPolicy, [Code])])
  func `what its issuer lists is undetermined, not undeclared`(_ policy: RevocationPolicy, _ codes: [Code]) throws {
    let attack = try Attack()
    let issuer = try attack.authority.certificateIssuer(.good)
    let signer = try MockSigner(authority: attack.authority, under: issuer, curve: .p256, at: attack.now)
    let certificate = try Certificate(der: #require(try signer.chain().first))
    try #require(certificate.extensions.crlDistributionPoints != nil)
    let trust = try TrustStore(
      anchors: [TrustAnchor(certificate: certificate, kind: .documentSigner)], allowsTestCertificates: true)
    let verdict = Proximity(verifier: MdocVerifier(trust: trust, revocation: policy)).authenticate(
      try attack.response(.none), transcript: attack.transcript, readerKey: nil, request: Attack.request,
      at: attack.now
    ).conclude()
    #expect(verdict.report.reasons.map(\.code) == codes)
    let status = verdict.accepted?.documents.first?.revocation
    #expect(status == (policy == .requireGood ? nil : policy == .off ? .notRun : .undetermined))
  }
}
