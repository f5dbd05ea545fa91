import Base
import CBOR
import Longfellow
import PKIX
import TestSupport
import Testing
import Trust

@testable import Mdoc
@testable import Mock

/// A response with a proof of Google Wallet, whose parts can be changed one by one, and its verifier.
struct ProvenAnswer {
  /// The structure around the proof, as the wallet sent it.
  var docType = DocType.mDL
  var label: CBORValue
  var timestamp: CBORValue = .tagged(0, "2025-12-01T23:59:59Z")
  var elements: [(key: CBORValue, value: CBORValue)] = [Self.element("age_over_18", true)]
  var namespace = Namespace.mDL
  /// A second namespace, with the same elements.
  var furtherNamespace: String?
  var chain: CBORValue?
  var more: [(key: CBORValue, value: CBORValue)] = []
  var proof: CBORValue
  var data: (CBORValue) -> CBORValue = { .embedded($0) }
  var dataName: CBORValue = "documentData"
  var copies = 1
  var response: [(key: CBORValue, value: CBORValue)] = [(key: "version", value: "1.0"), (key: "status", value: 0)]

  /// The request, and the rules of its verification.
  var request: PresentationRequest
  var verifier: MdocVerifier
  var transcript: SessionTranscript
  var now = Timestamp(secondsSince1970: 1_764_633_000)
  /// The query of the response; nil if one response is for all queries.
  var query: PresentedResponse.Query?

  static func element(_ identifier: String, _ value: CBORValue) -> (key: CBORValue, value: CBORValue) {
    (key: .text(identifier), value: value)
  }

  static let circuit = KnownCircuit.all.first { $0.version == 6 && $0.elements == 1 }
  /// One library for all tests, so that its circuit is loaded once.
  private static let library = Result {
    let circuit = try #require(Self.circuit)
    return CircuitLibrary([circuit: try PublishedVectors.bytes("longfellow/circuits/6_1_\(circuit.hash)")])
  }

  init() throws {
    let folder = "longfellow/google-post1"
    let circuit = try #require(Self.circuit)
    let library = try Self.library.get()
    label = .text(circuit.hash)
    proof = .bytes(try PublishedVectors.bytes("\(folder)/proof.bin"))
    chain = .bytes(try Self.certificate("signer"))
    let anchor = TrustAnchor(certificate: try Certificate(der: Self.certificate("anchor")), docTypes: [DocType.mDL])
    verifier = MdocVerifier(trust: try TrustStore(anchors: [anchor], allowsTestCertificates: true))
    verifier.proofs = ProofPolicy(circuits: library, acceptsEndOfDay: true)
    transcript = try SessionTranscript(encoded: PublishedVectors.bytes("\(folder)/transcript.cbor"))
    var document = DocumentRequest(docType: DocType.mDL, elements: [], minimumAge: 18)
    document.proofs = try ProofRequest(of: document, isRequired: false, circuits: library.circuits)
    request = PresentationRequest(documents: [document])
  }

  /// DER of a PEM file.
  fileprivate static func certificate(_ name: String) throws -> [UInt8] {
    let pem = String(decoding: try PublishedVectors.bytes("longfellow/google-post1/\(name).pem"), as: UTF8.self)
    return try #require(PEM.certificates(in: pem)?.first)
  }

  private var zkDocument: CBORValue {
    let elements = elements.map { element in
      CBORValue.map([
        (key: "elementIdentifier", value: element.key), (key: "elementValue", value: element.value),
      ])
    }
    var members: [(key: CBORValue, value: CBORValue)] = [
      (key: "docType", value: .text(docType)), (key: "timestamp", value: timestamp),
      (key: "zkSystemId", value: label),
      (
        key: "issuerSigned",
        value: .map(
          [namespace, furtherNamespace].compactMap { $0 }.map { (key: .text($0), value: .array(elements)) })
      ),
    ]
    members += more
    if let chain { members.append((key: CBORValue.text("msoX5chain"), value: chain)) }
    let data = CBORValue.map(members)
    return .map([(key: dataName, value: self.data(data)), (key: CBORValue.text("proof"), value: proof)])
  }

  var encoded: [UInt8] {
    let documents = [CBORValue](repeating: zkDocument, count: copies)
    return CBORValue.map(response + [(key: "zkDocuments", value: .array(documents))]).encoded()
  }

  func verify() throws -> Verdict {
    let presented = PresentedResponse(
      parts: [.init(try DeviceResponse(parsing: encoded), query: query)],
      transcript: transcript, readerKey: nil)
    return verifier.authenticate(presented, request: request, at: now).conclude()
  }
}

@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct ZeroKnowledgeTests {
  @Test func `a wallet's proof answers an age question`() throws {
    let verdict = try ProvenAnswer().verify()
    let document = try #require(verdict.accepted?.documents.first, "\(verdict.report.reasons)")
    #expect(document.ageAnswers.map(\.threshold) == [18] && document.ageAnswers.allSatisfy(\.answer))
    #expect(document.deviceAuthentication == .zeroKnowledge)
    #expect(document.validity == nil)
    #expect(document.issuer.commonName == "Payground Document Signer")
    let checks = try #require(verdict.report.documents.first).checks
    for code in [Code.msoDocTypeMismatch, .digestIDDuplicate, .documentRevoked] {
      #expect(checks.first { $0.code == code }?.outcome == .notRun)
    }
    #expect(Set(checks.map(\.code)) == Set(MdocVerifier.proofChecks))
  }

  /// Each fault around or in the proof is refused with its own code; the proof is verified only if nothing else is
  /// wrong.
  @Test(arguments: ZeroKnowledgeTests.faults().indices)
  func `one fault, one code`(index: Int) throws {
    let (name, code, change) = Self.faults()[index]
    var answer = try ProvenAnswer()
    try change(&answer)
    let verdict = try answer.verify()
    #expect(verdict.report.reasons.map(\.code) == [code], "\(name)")
    let checks = verdict.report.checks + verdict.report.documents.flatMap(\.checks)
    #expect(checks.first { $0.outcome == .failed }?.detail?.isEmpty == false, "\(name)")
    #expect(verdict.accepted == nil)
    let proof = verdict.report.documents.first?.checks.first { $0.code == .zkProofInvalid }?.outcome
    #expect(code == .zkProofInvalid ? proof == .failed : proof != .failed, "\(name)")
  }

  /// Servers count only proofs that were fully verified or refused.
  @Test func `each verified proof is told with its circuit, and whether it holds`() throws {
    func runs(_ change: Change) throws -> [ProofRun] {
      let told = Locked<[ProofRun]>([])
      var answer = try ProvenAnswer()
      answer.verifier.didVerifyProof = { run in told.withLock { $0.append(run) } }
      try change(&answer)
      _ = try answer.verify()
      return told.withLock { $0 }
    }
    let good = try runs { _ in }
    let bad = try runs { $0.flip(0) }
    #expect((good + bad).map(\.circuit) == [ProvenAnswer.circuit, ProvenAnswer.circuit])
    #expect((good + bad).map(\.isProven) == [true, false])
    #expect((good + bad).allSatisfy { $0.seconds > 0 })
    #expect(try runs { $0.label = "longfellow" }.isEmpty)
  }

  typealias Change = @Sendable (inout ProvenAnswer) throws -> Void
  static func faults() -> [(name: String, code: Code, change: Change)] {
    [
      ("Z01 a tag", .zkProofInvalid, { $0.flip(0) }),
      ("Z14 the last byte is missing", .zkProofMalformed, { $0.proof = .bytes(Array($0.proofBytes.dropLast())) }),
      ("Z16 a byte too many", .zkProofMalformed, { $0.proof = .bytes($0.proofBytes + [0]) }),
      ("Z24 an unknown label", .zkSystemUnknown, { $0.label = "longfellow" }),
      ("Z24 an upper-case hash", .zkSystemUnknown, { $0.label = .text($0.circuit.hash.uppercased()) }),
      ("Z25 a circuit that was not offered", .zkSystemNotOffered, { $0.label = .text(KnownCircuit.all[0].label) }),
      (
        "Z26 version 5", .zkSystemUnknown,
        { $0.label = "f88a39e561ec0be02bb3dfe38fb609ad154e98decbbe632887d850fc612fea6f" }
      ),
      ("Z28 another value", .zkProofInvalid, { $0.elements = [ProvenAnswer.element("age_over_18", 1)] }),
      ("Z29 another element", .zkElementsMismatch, { $0.elements = [ProvenAnswer.element("age_over_21", true)] }),
      (
        "Z29 another element that was asked for", .zkProofInvalid,
        {
          $0.elements = [ProvenAnswer.element("age_over_21", true)]
          $0.request.documents[0].minimumAge = 21
        }
      ),
      ("Z34 another namespace", .zkNamespaceMismatch, { $0.namespace = "org.iso.18013.5.1.aamva" }),
      (
        "Z35 a value of 65 bytes", .zkElementNotProvable,
        { $0.elements[0].value = .bytes([UInt8](repeating: 0, count: 63)) }
      ),
      ("Z35 a list", .zkElementNotProvable, { $0.elements[0].value = [true] }),
      ("Z35 null", .zkElementNotProvable, { $0.elements[0].value = .null }),
      ("Z36 a long head", .zkProofInvalid, { $0.elements[0].value = .encoded([0x18, 0x01]) }),
      (
        "Z38, Z39 another type", .docTypeNotRequested,
        {
          $0.docType = "org.iso.23220.photoid.1"
          $0.verifier = try $0.trusting([try $0.anchor(docTypes: [$0.docType])])
        }
      ),
      (
        "Z38 another type that was asked for", .zkProofInvalid,
        {
          $0.docType = "org.iso.23220.photoid.1"
          $0.request.documents[0].docType = $0.docType
          $0.namespace = DocTypeCatalogue.ageNamespace(ofDocType: $0.docType)
          $0.verifier = try $0.trusting([try $0.anchor(docTypes: [$0.docType])])
        }
      ),
      ("Z41 a second earlier", .zkProofInvalid, { $0.timestamp = .tagged(0, "2025-12-01T23:59:58Z") }),
      ("Z42 three days later", .zkTimestampStale, { $0.now = $0.now + 3 * 86_400 }),
      ("Z42 301 seconds later", .zkTimestampStale, { $0.now = Timestamp(secondsSince1970: 1_764_633_599 + 301) }),
      (
        "Z43 in the future", .zkTimestampInFuture,
        {
          $0.verifier.proofs?.acceptsEndOfDay = false
          $0.now = Timestamp(secondsSince1970: 1_764_633_599 - 61)
        }
      ),
      ("Z43 tomorrow", .zkTimestampInFuture, { $0.now = $0.now - 86_400 }),
      ("Z46 no tag", .zkTimestampMalformed, { $0.timestamp = "2025-12-01T23:59:59Z" }),
      ("Z46 a fraction", .zkTimestampMalformed, { $0.timestamp = .tagged(0, "2025-12-01T23:59:59.0Z") }),
      ("Z46 an offset", .zkTimestampMalformed, { $0.timestamp = .tagged(0, "2025-12-01T23:59:59+00:00") }),
      ("Z46 30 February", .zkTimestampMalformed, { $0.timestamp = .tagged(0, "2025-02-30T23:59:59Z") }),
      ("Z46 a small z", .zkTimestampMalformed, { $0.timestamp = .tagged(0, "2025-12-01T23:59:59z") }),
      ("Z46 a leap second", .zkTimestampMalformed, { $0.timestamp = .tagged(0, "2025-12-01T23:59:60Z") }),
      ("Z47 a day", .zkTimestampMalformed, { $0.timestamp = .tagged(1004, "2025-12-01") }),
      (
        "Z48 another session", .zkProofInvalid,
        { $0.transcript = try SessionTranscript(encoded: [0x83, 0xf6, 0xf6, 0x80]) }
      ),
      (
        "Z51 an element of the device", .zkDeviceElements,
        { $0.more = [(key: "deviceSigned", value: ["ns": [["elementIdentifier": "a", "elementValue": 1]]])] }
      ),
      ("Z53 no anchor", .issuerUnknown, { $0.verifier = try $0.trusting([Self.otherAnchor()]) }),
      ("Z54 an expired signer", .certificateExpired, { $0.ageByAYear() }),
      (
        "an empty list of elements", .zkDocumentMalformed,
        { $0.more = [(key: "deviceSigned", value: ["ns": []])] }
      ),
      ("Z33 no element", .zkDocumentMalformed, { $0.elements = [] }),
      ("Z55 no chain", .zkDocumentMalformed, { $0.chain = nil }),
      ("Z55 an empty chain", .zkDocumentMalformed, { $0.chain = [] }),
      ("Z55 a text", .zkDocumentMalformed, { $0.chain = "certificate" }),
      ("Z57 no tag 24", .zkDocumentMalformed, { $0.data = { $0 } }),
      ("Z57 a byte string", .zkDocumentMalformed, { $0.data = { .bytes($0.encoded()) } }),
      ("Z58 another name", .zkDocumentMalformed, { $0.dataName = "zkDocumentData" }),
      ("Z59 a proof that is text", .zkDocumentMalformed, { $0.proof = "proof" }),
      ("Z64 another status", .responseStatusNotOK, { $0.response[1].value = 10 }),
      ("Z65 no proof was asked for", .zeroKnowledgeUnsupported, { $0.request.documents[0].proofs = nil }),
      (
        "an anchor for any type", .zkIssuerNotAllowed,
        { $0.verifier = try $0.trusting([try $0.anchor(docTypes: nil)]) }
      ),
      (
        "an anchor that allows no proofs", .zkIssuerNotAllowed,
        {
          var anchor = try $0.anchor(docTypes: [DocType.mDL])
          anchor.allowsProofsExplicitly = false
          $0.verifier = try $0.trusting([anchor])
        }
      ),
      ("a status that must be good", .zkStatusNotProvable, { $0.verifier.revocation = .requireGood }),
      ("no circuit", .zkCircuitUnavailable, { $0.verifier.proofs?.circuits = CircuitLibrary([:]) }),
      (
        "a damaged circuit", .zkCircuitUnavailable,
        {
          let damaged = CircuitLibrary([$0.circuit: [0x28, 0xb5, 0x2f, 0xfd]])
          $0.verifier.proofs?.circuits = damaged
        }
      ),
    ]
  }

  private static func otherAnchor() throws -> TrustAnchor {
    let attack = try Attack()
    return TrustAnchor(certificate: try Certificate(der: attack.authority.anchor(at: attack.now).certificate))
  }

  /// Z60, Z61: further documents are refused before any proof is verified.
  @Test(arguments: [2, 3])
  func `more proofs than documents were asked for`(count: Int) throws {
    var answer = try ProvenAnswer()
    answer.copies = count
    let report = try answer.verify().report
    #expect(report.reasons.map(\.code) == [.documentUnexpected])
    #expect(report.documents.count == count)
    for document in report.documents {
      #expect(document.checks.first { $0.code == .zkProofInvalid }?.outcome == .notRun)
    }
  }

  /// Each would get a report of its own, and a response has room for tens of thousands.
  @Test(arguments: [17, 65_000])
  func `more proofs than any answer has are refused as a whole`(count: Int) throws {
    var answer = try ProvenAnswer()
    answer.response.append((key: "zkDocuments", value: .array([CBORValue](repeating: 0, count: count))))
    let bytes = CBORValue.map(answer.response).encoded()
    let error = #expect(throws: MdocParseError.self) { try DeviceResponse(parsing: bytes) }
    #expect(error?.code == .documentUnexpected)
  }

  /// A wallet that proves a document must not report an error about it.
  @Test func `an error for the proven document`() throws {
    var answer = try ProvenAnswer()
    answer.response.append((key: "documentErrors", value: [.map([(key: .text(DocType.mDL), value: 0)])]))
    #expect(try answer.verify().report.reasons.map(\.code) == [.documentErrorsPresent])
  }

  /// Z32, Z33: the elements are one of each, and as many as the circuit proves.
  @Test(arguments: [2, 5, 100])
  func `a wrong number of elements`(count: Int) throws {
    var answer = try ProvenAnswer()
    answer.elements = (0..<count).map { ProvenAnswer.element("age_over_\(10 + $0)", true) }
    let codes = try answer.verify().report.reasons.map(\.code)
    #expect(codes.contains(.zkElementCount) && codes.contains(.zkElementsMismatch))
    answer.elements = [ProvenAnswer.element("age_over_18", true), ProvenAnswer.element("age_over_18", true)]
    #expect(try answer.verify().report.reasons.map(\.code).contains(.elementDuplicate))
  }

  /// Beside a fault for which the proof is not verified, too.
  @Test func `what can't be proven, and elements of two namespaces, are told of any answer`() throws {
    var answer = try ProvenAnswer()
    answer.label = "longfellow"
    answer.elements[0].value = [true]
    #expect(try answer.verify().report.reasons.map(\.code) == [.zkSystemUnknown, .zkElementNotProvable])
    answer = try ProvenAnswer()
    answer.request.documents[0].docType = DocType.photoID
    answer.furtherNamespace = Namespace.iso23220
    let codes = try answer.verify().report.reasons.map(\.code)
    #expect(codes == [.docTypeNotRequested, .zkNamespaceMismatch])
  }

  /// Each of them is short enough, but together they are too long for version 6.
  @Test func `a long identifier with a long value`() throws {
    var answer = try ProvenAnswer()
    let identifier = String(repeating: "x", count: 32)
    answer.elements = [ProvenAnswer.element(identifier, .bytes([UInt8](repeating: 0, count: 62)))]
    answer.request.documents[0].minimumAge = nil
    answer.request.documents[0].elements = [ElementRequest(ElementReference(Namespace.mDL, identifier))]
    #expect(try answer.verify().report.reasons.map(\.code) == [.zkElementNotProvable])
  }

  /// It is trusted now, but was not at the proof's time.
  @Test func `a signer that is younger than the proof`() throws {
    var answer = try ProvenAnswer()
    let authority = try MockAuthority(seed: Array("proofs".utf8))
    answer.now = Timestamp(secondsSince1970: 1_795_000_000)
    answer.timestamp = .tagged(0, .text("\(answer.now - 200)"))
    answer.verifier = try answer.trusting([
      TrustAnchor(
        certificate: try Certificate(der: authority.anchor(at: answer.now).certificate), docTypes: [DocType.mDL])
    ])
    var template = try MockSigner(
      authority: authority, under: authority.certificateIssuer(.good), curve: .p256, at: answer.now
    ).certificate
    for (age, codes) in [(Int64(300), [Code.zkProofInvalid]), (100, [.certificateExpired])] {
      template.notBefore = answer.now - age
      answer.chain = .bytes(try template.signed(by: authority.certificateIssuer(.good).key))
      #expect(try answer.verify().report.reasons.map(\.code) == codes)
    }
  }

  /// One request is satisfied once, by a document or by a proof about it.
  @Test func `a document beside a proof of it answers nothing`() throws {
    var answer = try ProvenAnswer()
    let authority = try MockAuthority(seed: Array("proofs".utf8))
    let plain = try MockWallet(authority: authority, documents: [MockPerson.mDL]).answer(
      .standard, transcript: answer.transcript.encoded, variant: .good, at: answer.now
    ).bytes
    let document = try #require(CBORItem(parsing: plain)[key: "documents"]?.elements?.first { _ in true })
    answer.response.append((key: "documents", value: [.encoded(Array(document.encoded))]))
    answer.verifier = try answer.trusting([
      answer.anchor(docTypes: [DocType.mDL]),
      TrustAnchor(
        certificate: try Certificate(der: authority.anchor(at: answer.now).certificate), docTypes: [DocType.mDL]),
    ])
    answer.request.documents.append(DocumentRequest(docType: DocType.photoID, elements: []))
    answer.request.requiresAllDocuments = true
    let codes = try answer.verify().report.reasons.map(\.code)
    #expect(codes.contains(.docTypeNotRequested) && codes.contains(.documentMissing))
  }

  /// A query is satisfied by a document of its own type and kind.
  @Test func `a proof in answer to another query`() throws {
    var answer = try ProvenAnswer()
    let photoID = "org.iso.23220.photoid.1"
    answer.request.documents.append(DocumentRequest(docType: photoID, elements: [], ageOver: [18]))
    answer.query = .init(0, docType: DocType.mDL, kind: .proof)
    #expect(try answer.verify().accepted != nil)
    answer.query = .init(1, docType: photoID, kind: .proof)
    #expect(try answer.verify().report.reasons.map(\.code) == [.documentUnexpected])
    answer.query = .init(0, docType: DocType.mDL, kind: .plain)
    #expect(try answer.verify().report.reasons.map(\.code) == [.zkPlainNotAccepted])
  }

  /// Z54: the circuits verify only signatures on P-256.
  @Test func `a signer on another curve`() throws {
    var answer = try ProvenAnswer()
    let authority = try MockAuthority(seed: Array("proofs".utf8), issuerCurve: .p384)
    answer.now = Timestamp(secondsSince1970: 1_795_000_000)
    answer.timestamp = .tagged(0, .text("\(answer.now)"))
    answer.chain = .bytes(try authority.documentSigner(at: answer.now))
    let anchor = try Certificate(der: authority.anchor(at: answer.now).certificate)
    answer.verifier = try answer.trusting([TrustAnchor(certificate: anchor, docTypes: [DocType.mDL])])
    #expect(try answer.verify().report.reasons.map(\.code) == [.zkIssuerKeyUnsupported])
  }

  /// Z71: what must pass.
  @Test func `members that are unknown or empty do no harm`() throws {
    var answer = try ProvenAnswer()
    answer.more = [(key: "deviceSigned", value: [:]), (key: "unknown", value: 1)]
    answer.chain = answer.chain.map { [$0] }
    answer.response[0].value = "1.1"
    #expect(try answer.verify().accepted != nil)
    answer.label = .text(answer.circuit.label)
    #expect(try answer.verify().accepted != nil)
  }

  /// Z37: a proven "no" is a valid proof of the wrong value, so its code is that of plain documents.
  @Test func `an element that was not asked for as an age`() throws {
    var answer = try ProvenAnswer()
    let age = ElementReference(Namespace.mDL, "age_over_18")
    var document = DocumentRequest(docType: DocType.mDL, elements: [ElementRequest(age)])
    document.proofs = try ProofRequest(
      of: document, isRequired: true, circuits: try #require(answer.verifier.proofs).circuits.circuits)
    answer.request = PresentationRequest(documents: [document])
    let accepted = try #require(try answer.verify().accepted?.documents.first)
    #expect(accepted.elements.map(\.reference) == [age])
  }
}

extension ProvenAnswer {
  fileprivate var circuit: KnownCircuit { request.documents[0].proofs?.circuits.first ?? KnownCircuit.all[4] }

  fileprivate var proofBytes: [UInt8] { if case .bytes(let bytes) = proof { bytes } else { [] } }

  fileprivate mutating func flip(_ index: Int) {
    var bytes = proofBytes
    bytes[index] ^= 1
    proof = .bytes(bytes)
  }

  fileprivate func anchor(docTypes: [String]?) throws -> TrustAnchor {
    TrustAnchor(certificate: try Certificate(der: Self.certificate("anchor")), docTypes: docTypes)
  }

  fileprivate func trusting(_ anchors: [TrustAnchor]) throws -> MdocVerifier {
    var verifier = MdocVerifier(trust: try TrustStore(anchors: anchors, allowsTestCertificates: true))
    verifier.proofs = self.verifier.proofs
    return verifier
  }

  /// The signer ends on 7 May 2026. The proof then has another time, and is not verified.
  fileprivate mutating func ageByAYear() {
    now = Timestamp(secondsSince1970: 1_796_169_000)
    timestamp = .tagged(0, .text("\(now)"))
  }
}
