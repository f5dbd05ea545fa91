import Base
import CBOR
import COSE
import Cryptography
import Mdoc
import PKIX
import TestSupport
import Testing

@testable import Mock
@testable import Presentation

/// The written requests, read back with only CBOR and COSE.
@Suite struct DeviceRequestTests {
  private let transcript: SessionTranscript
  private let mDL = DocumentRequest(
    docType: DocType.mDL,
    elements: [
      ElementRequest(ElementReference(Namespace.mDL, "family_name"), intentToRetain: true),
      ElementRequest(ElementReference(Namespace.aamva, "organ_donor"), isRequired: false),
      ElementRequest(ElementReference(Namespace.mDL, "portrait")),
    ], ageOver: [21], minimumAge: 18)
  private let photoID = DocumentRequest(docType: DocType.photoID, elements: [], ageOver: [21])

  init() throws { transcript = try SessionTranscript(encoded: [0x83, 0xf6, 0xf6, 0x81, 0x01]) }

  private func anyOf(_ all: Bool = false) -> PresentationRequest {
    PresentationRequest(documents: [mDL, photoID], requiresAllDocuments: all)
  }

  @Test func elementsStandUnderTheirNamespacesWithTheIntentToRetain() throws {
    var document = mDL
    document.elements[1].isRequired = true
    let item = try CBORItem(parsing: DeviceRequest(PresentationRequest(documents: [document])).encoded)
    #expect(item.memberNames == ["version", "docRequests"])
    #expect(item[key: "version"]?.text == "1.0")
    let items = try #require(item.itemsRequests?.first)
    #expect(items.memberNames == ["docType", "nameSpaces"])
    #expect(items[key: "docType"]?.text == DocType.mDL)
    let namespaces = try #require(items[key: "nameSpaces"])
    #expect(namespaces.memberNames == [Namespace.mDL, Namespace.aamva])
    let elements = try #require(namespaces[key: Namespace.mDL])
    #expect(elements.memberNames == ["family_name", "portrait", "age_over_18", "age_over_21"])
    #expect(elements.entries.map { $0.map(\.value.bool) } == [true, false, false, false])
  }

  @Test(
    arguments: [
      (DocType.mDL, Namespace.mDL), (DocType.photoID, Namespace.iso23220),
      ("org.iso.23220.photoID.1", Namespace.iso23220), (DocType.japanMyNumber, Namespace.iso23220),
      ("eu.europa.ec.eudi.pid.1", "eu.europa.ec.eudi.pid.1"), ("eu.europa.ec.av.1", "eu.europa.ec.av.1"),
    ])
  func agesAreAskedForWhereTheAnswerIsLookedFor(docType: String, namespace: String) throws {
    let document = DocumentRequest(docType: docType, elements: [], ageOver: [5])
    let item = try CBORItem(parsing: DeviceRequest(PresentationRequest(documents: [document])).encoded)
    let namespaces = try #require(item.itemsRequests?.first?[key: "nameSpaces"])
    #expect(namespaces.memberNames == [namespace])
    #expect(namespaces[key: namespace]?.memberNames == ["age_over_05"])
  }

  @Test func anAgeThatIsAlsoNamedIsAskedForOnce() throws {
    var document = mDL
    document.elements = [ElementRequest(ElementReference(Namespace.mDL, "age_over_18"), intentToRetain: true)]
    document.ageOver = []
    let item = try CBORItem(parsing: DeviceRequest(PresentationRequest(documents: [document])).encoded)
    let elements = try #require(item.itemsRequests?.first?[key: "nameSpaces"]?[key: Namespace.mDL])
    #expect(elements.memberNames == ["age_over_18"])
    #expect(elements[key: "age_over_18"]?.bool == true)
  }

  @Test func namespacesAreToldApartByTheirBytes() throws {
    let composed = ElementReference("caf\u{e9}", "a")
    let decomposed = ElementReference("cafe\u{301}", "a")
    let document = DocumentRequest(docType: "x", elements: [ElementRequest(composed), ElementRequest(decomposed)])
    let item = try CBORItem(parsing: DeviceRequest(PresentationRequest(documents: [document])).encoded)
    #expect(item.itemsRequests?.first?[key: "nameSpaces"]?.count == 2)
  }

  // MARK: Substitutes

  /// A request for one document, and its alternatives as `X: a b`.
  private func read(
    _ elements: [ElementRequest], signed: Bool = false, docType: String = DocType.mDL
  ) throws -> (item: CBORItem, substitutes: [String]) {
    let request = PresentationRequest(documents: [DocumentRequest(docType: docType, elements: elements)])
    let reader = signed ? try ReaderFixture().identity : nil
    let item = try CBORItem(parsing: DeviceRequest(request, signedBy: reader, over: transcript).encoded)
    let info = item.itemsRequests?.first?[key: "requestInfo"]
    #expect(info?[key: "uniqueDocSetRequired"]?.bool == (item[key: "version"]?.text == "1.1" ? true : nil))
    #expect((item[key: "deviceRequestInfo"] != nil) == (item[key: "version"]?.text == "1.1"))
    let entries = info?[key: "alternativeDataElements"]?.elements.map { Array($0) } ?? []
    let substitutes = try entries.map { entry in
      let sets = try #require(entry[key: "alternativeElementSets"]?.elements)
      let names = sets.compactMap { set in set.elements?.compactMap { $0.elements?.compactMap(\.text).last } }
      #expect(names.allSatisfy { $0.count == 1 })
      let requested = entry[key: "requestedElement"]?.elements?.compactMap(\.text).last ?? ""
      return "\(requested): \(names.joined().joined(separator: " "))"
    }
    return (item, substitutes)
  }

  private func element(
    _ name: String, _ isRequired: Bool = false, retain: Bool = false, or others: [String] = []
  ) -> ElementRequest {
    ElementRequest(
      ElementReference(Namespace.mDL, name), intentToRetain: retain, isRequired: isRequired,
      alternatives: others.map { ElementReference(Namespace.mDL, $0) })
  }

  @Test(arguments: [false, true]) func elementsThatMayComeInsteadMakeItVersion11(isSigned: Bool) throws {
    let (item, substitutes) = try read([element("sex", true, or: ["a", "b"])], signed: isSigned)
    #expect(item[key: "version"]?.text == "1.1")
    #expect(try #require(item.info) == "[[0]]")
    #expect(substitutes == ["sex: a b"])
  }

  @Test(arguments: [false, true]) func aRequiredElementStandsInForAnOptionalOne(isSigned: Bool) throws {
    let (item, substitutes) = try read(
      [
        element("portrait", true), element("given_name", true, retain: true), element("weight", true),
        element("age_over_18", true), element("family_name", true), element("height", retain: true),
        element("sex", or: ["sex_2"]),
      ], signed: isSigned)
    #expect(item[key: "version"]?.text == "1.1")
    #expect((item[key: "readerAuthAll"] != nil) == isSigned)
    #expect(try #require(item.info) == "[[0]]")
    // It has the same intent to retain, and is in every document.
    #expect(substitutes == ["height: given_name", "sex: sex_2 family_name"])
  }

  @Test func whatStandsInMayHaveAnotherIntentAndIsAPortraitOnlyIfThereIsNothingElse() throws {
    let other = try read([element("portrait", true), element("sex", true, retain: true), element("height")])
    #expect(other.substitutes == ["height: sex"])
    #expect(try read([element("portrait", true), element("height")]).substitutes == ["height: portrait"])
    // Any of its own alternatives is also a substitute.
    let two = try read([element("sex", true, or: ["sex_2"]), element("height")])
    #expect(two.substitutes == ["sex: sex_2", "height: sex sex_2"])
  }

  @Test func whereNothingIsRequiredUpToThreeElementsStandInForOneAnother() throws {
    let three = try read(["a", "b", "c"].map { element($0) })
    #expect(three.item[key: "version"]?.text == "1.1")
    #expect(three.substitutes == ["a: b c", "b: a c", "c: a b"])
    let four = try read(["a", "b", "c", "family_name"].map { element($0) }, signed: true)
    #expect(four.item.memberNames == ["version", "docRequests"])
    #expect(four.item[key: "version"]?.text == "1.0")
    #expect(four.item[key: "docRequests"]?.elements?.first { _ in true }?[key: "readerAuth"] != nil)
    #expect(four.substitutes == ["a: family_name", "b: family_name", "c: family_name"])
  }

  /// A wallet may try every combination, so there are at most 4,096.
  @Test func noMoreThanTwelveOptionalElementsHaveSubstitutes() throws {
    let few = try read([element("r", true)] + (1...12).map { element("o\($0)") })
    #expect(few.item[key: "version"]?.text == "1.1" && few.substitutes.count == 12)
    let many = try read([element("r", true)] + (1...13).map { element("o\($0)") }, signed: true)
    #expect(many.item[key: "version"]?.text == "1.0" && many.substitutes.count == 12)
    let alternatives = try read((1...13).map { element("r\($0)", true, or: ["a\($0)"]) }, signed: true)
    #expect(alternatives.item[key: "version"]?.text == "1.1" && alternatives.substitutes.count == 12)
  }

  @Test func aRequestForProofsIsVersion11WithItsUseCase() throws {
    for isRequired in [false, true] {
      var document = mDL
      document.proofs = ProofRequest(isRequired: isRequired, offering: [])
      let item = try CBORItem(parsing: DeviceRequest(PresentationRequest(documents: [document])).encoded)
      #expect(item.memberNames == ["version", "docRequests", "deviceRequestInfo"])
      #expect(item[key: "version"]?.text == "1.1")
      #expect(try #require(item.info) == "[[0]]")
      // A proof shows all requested elements, so none is optional if only a proof is accepted.
      let info = try #require(item.itemsRequests?.first?[key: "requestInfo"])
      #expect((info[key: "alternativeDataElements"] == nil) == isRequired)
    }
  }

  @Test(arguments: zip([nil] + PurposeHint.allCases, [nil, 1, 2, 3] as [UInt64?]))
  func thePurposeIsInTheUseCase(hint: PurposeHint?, number: UInt64?) throws {
    var request = anyOf()
    request.purposeHint = hint
    let item = try CBORItem(parsing: DeviceRequest(request).encoded)
    let useCase = item[key: "deviceRequestInfo"]?.embedded?[key: "useCases"]?.elements?.first { _ in true }
    #expect(useCase?[key: "purposeHints"]?[key: "org.iso.jtc1.sc17"]?.unsigned == number)
    // It does not raise the version.
    request.documents = [photoID]
    #expect(try CBORItem(parsing: DeviceRequest(request).encoded)[key: "version"]?.text == "1.0")
  }

  @Test func anyOneOfTheDocumentsIsAUseCaseOfVersion11() throws {
    let item = try CBORItem(parsing: DeviceRequest(anyOf()).encoded)
    #expect(item.memberNames == ["version", "docRequests", "deviceRequestInfo"])
    #expect(item[key: "version"]?.text == "1.1")
    #expect(try #require(item.info) == "[[0], [1]]")
  }

  @Test func allDocumentsTogetherAreOneSetOfVersion11() throws {
    let item = try CBORItem(parsing: DeviceRequest(anyOf(true)).encoded)
    #expect(item.memberNames == ["version", "docRequests", "deviceRequestInfo"])
    #expect(item[key: "version"]?.text == "1.1")
    #expect(try #require(item.info) == "[[0, 1]]")
    #expect(item.itemsRequests?.count == 2)
  }

  // MARK: Signed

  @Test(arguments: [Curve.p256, .p384, .p521, .ed25519, .brainpoolP256r1], [false, true])
  func aReaderSignsEachDocumentAndAllOfThem(curve: Curve, hasIntermediate: Bool) throws {
    let reader = try ReaderFixture(curve: curve, hasIntermediate: hasIntermediate).identity
    let encoded = try DeviceRequest(anyOf(true), signedBy: reader, over: transcript).encoded
    let item = try CBORItem(parsing: encoded)
    #expect(item.memberNames == ["version", "docRequests", "readerAuthAll", "deviceRequestInfo"])
    #expect(item[key: "version"]?.text == "1.1")
    #expect(try #require(item.info) == "[[0, 1]]")
    let requests = try #require(item[key: "docRequests"]?.elements.map { Array($0) })
    let itemsRequests = requests.compactMap { $0[key: "itemsRequest"].map { Array($0.encoded) } }
    #expect(itemsRequests.count == 2)
    for (request, items) in zip(requests, itemsRequests) {
      let message = try COSESign1(parsing: try #require(request[key: "readerAuth"]))
      try expect(message, isBy: reader, over: ReaderAuthentication.bytes(over: items, transcript))
    }
    let all = try #require(item[key: "readerAuthAll"]?.elements.map { Array($0) })
    #expect(all.count == 1)
    try expect(
      COSESign1(parsing: all[0]), isBy: reader,
      over: ReaderAuthentication.bytes(
        overAll: itemsRequests, info: (item[key: "deviceRequestInfo"]?.encoded).map { Array($0) }, transcript))
  }

  private func expect(_ message: COSESign1, isBy reader: ReaderIdentity, over payload: [UInt8]) throws {
    #expect(message.payload == nil)
    #expect(message.headers.protectedParameter(COSEHeaders.Label.x5chain) == nil)
    #expect(message.headers.x5chain?.map { Array($0) } == reader.certificates.map(\.der))
    let kind = message.headers.parameter(COSEHeaders.Label.x5chain)?.kind
    #expect(kind == (reader.certificates.count == 1 ? .bytes : .array))
    #expect(message.verify(payload: payload[...], key: reader.key.publicKey) == .valid)
    let other = try SessionTranscript(encoded: [0x83, 0xf6, 0xf6, 0x81, 0x02])
    let forAnother = payload.replacing(transcript.encoded, with: other.encoded)
    #expect(message.verify(payload: forAnother[...], key: reader.key.publicKey) == .invalid)
  }

  @Test func oneDocumentThatIsSignedHasItsUseCaseToo() throws {
    let reader = try ReaderFixture().identity
    let request = PresentationRequest(documents: [mDL])
    let item = try CBORItem(parsing: DeviceRequest(request, signedBy: reader, over: transcript).encoded)
    #expect(item[key: "version"]?.text == "1.1")
    #expect(try #require(item.info) == "[[0]]")
    let unsigned = try DeviceRequest(request, signedBy: nil, over: transcript)
    #expect(unsigned == DeviceRequest(request))
  }

  @Test func whatIsSignedHasFourElementsAndNullWithoutInfo() throws {
    let bytes = ReaderAuthentication.bytes(overAll: [[0xd8, 0x18, 0x41, 0xa0]], info: nil, transcript)
    let expected: CBORValue = [
      "ReaderAuthenticationAll", .encoded(transcript.encoded), [.encoded([0xd8, 0x18, 0x41, 0xa0])], nil,
    ]
    #expect(bytes == CBORValue.embedded(expected).encoded())
  }
}

extension CBORItem {
  var memberNames: [String] { entries.map { $0.compactMap(\.key.text) } ?? [] }

  /// The opened ItemsRequests of a DeviceRequest.
  var itemsRequests: [CBORItem]? {
    self[key: "docRequests"]?.elements.map { $0.compactMap { $0[key: "itemsRequest"]?.embedded } }
  }

  /// The document sets of the one use case, as text.
  var info: String? {
    guard let cases = self[key: "deviceRequestInfo"]?.embedded?[key: "useCases"]?.elements.map({ Array($0) }),
      cases.count == 1, cases[0][key: "mandatory"]?.bool == true,
      let sets = cases[0][key: "documentSets"]?.elements
    else { return nil }
    return "\(sets.map { $0.elements.map { $0.map { $0.unsigned ?? 99 } } ?? [] })"
  }
}

/// The parts of a reader must match; otherwise no reader is made.
@Suite struct ReaderIdentityTests {
  @Test func `a reader has its certificate's key, its chain and its name`() throws {
    let reader = try ReaderFixture(hasIntermediate: true).identity
    let other = try ReaderFixture(hasIntermediate: true).identity
    func problem(
      _ certificates: [Certificate], _ client: ReaderIdentity.ClientIdentifier = .certificateHash
    ) -> ReaderIdentityError? {
      do throws(ReaderIdentityError) {
        _ = try ReaderIdentity(key: reader.key, certificates: certificates, clientIdentifier: client)
        return nil
      } catch {
        return error
      }
    }
    #expect(problem(reader.certificates) == nil)
    #expect(problem([]) == .noCertificate)
    #expect(problem(other.certificates) == .keyMismatch)
    #expect(problem([reader.leaf, other.certificates[1]]) == .brokenChain)
    #expect(problem(reader.certificates, .dnsName("shop.example")) == .dnsNameMissing)
    let mock = try MockAuthority(seed: [1]).reader(dnsName: "shop.example", at: ReaderFixture.now)
    let certificates = try mock.certificates.map { try Certificate(der: $0) }
    _ = try ReaderIdentity(key: mock.key, certificates: certificates, clientIdentifier: .dnsName("shop.example"))
  }
}

/// A reader with a key on any curve, and an authority above it.
struct ReaderFixture {
  static let now = Timestamp(secondsSince1970: 1_795_000_000)
  let identity: ReaderIdentity
  /// The authority's own certificate, unless it is an intermediate.
  let root: Certificate

  /// - Parameters:
  ///   - hasIntermediate: whether the chain is of two certificates.
  ///   - change: the change to the reader's certificate before it is signed.
  init(
    curve: Curve = .p256, hasIntermediate: Bool = false, _ change: (inout CertificateTemplate) -> Void = { _ in }
  ) throws {
    let key = try PrivateKey(generatingOn: curve)
    let authority = try PrivateKey(generatingOn: .p256)
    let authorityName = CertificateName(country: "UT", state: nil, organization: nil, commonName: "reader authority")
    var leaf = Self.template(
      key.publicKey, named: CertificateName(country: "UT", state: nil, organization: "Shop", commonName: "reader"),
      under: authorityName)
    change(&leaf)
    var rootTemplate = Self.template(authority.publicKey, named: authorityName, under: authorityName)
    rootTemplate.extensions = [.basicConstraints(isCA: true, pathLength: 0), .keyUsage(.keyCertSign, .crlSign)]
    root = try Certificate(der: rootTemplate.signed(by: authority))
    var chain = [try Certificate(der: leaf.signed(by: authority))]
    if hasIntermediate {
      let rootName = CertificateName(country: "UT", state: nil, organization: nil, commonName: "reader root")
      let intermediate = Self.template(authority.publicKey, named: authorityName, under: rootName)
      chain.append(try Certificate(der: intermediate.signed(by: PrivateKey(generatingOn: .p256))))
    }
    identity = try ReaderIdentity(key: key, certificates: chain)
  }

  private static func template(
    _ key: PublicKey, named name: CertificateName, under issuer: CertificateName
  ) -> CertificateTemplate {
    CertificateTemplate(
      issuer: issuer, notBefore: now - 86_400, notAfter: now + 86_400, subject: name,
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key), extensions: [.keyUsage(.digitalSignature)])
  }
}
