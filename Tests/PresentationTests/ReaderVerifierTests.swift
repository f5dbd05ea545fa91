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

/// The identification of readers, as wallets do it.
@Suite struct ReaderVerifierTests {
  let now = Timestamp(secondsSince1970: 1_795_000_000)
  let transcript = AnnexCChallenge.transcript(encryptionInfo: "AAAA", origin: "https://shop.example")
  let reader: ReaderIdentity
  let root: Certificate

  init() throws {
    let mock = try MockAuthority(seed: Array("readers".utf8)).reader(dnsName: "shop.example", at: now)
    reader = try ReaderIdentity(key: mock.key, certificates: mock.certificates.map { try Certificate(der: $0) })
    root = try Certificate(der: mock.root)
  }

  private let request = PresentationRequest(documents: [
    DocumentRequest(docType: DocType.mDL, elements: [ElementRequest(ElementReference(Namespace.mDL, "given_name"))]),
    DocumentRequest(docType: "org.iso.23220.photoid.1", elements: [ElementRequest(ElementReference("n", "portrait"))]),
  ])

  private func verify(
    _ bytes: [UInt8], _ transcript: SessionTranscript? = nil, roots: [Certificate]? = nil, isStrict: Bool = false
  ) -> ReaderReport {
    ReaderVerifier(roots: roots ?? [root], isStrict: isStrict)
      .verify(deviceRequest: bytes, over: transcript ?? self.transcript, at: now)
  }

  private func signed() throws -> [UInt8] {
    try DeviceRequest(request, signedBy: reader, over: transcript).encoded
  }

  /// Changes the members of a signed request.
  private func changed(_ change: (inout MapDraft) throws -> Void) throws -> [UInt8] {
    let item = try CBORItem(parsing: signed())
    var members = MapDraft(
      try #require(item.entries).map { (.text($0.key.text ?? ""), .encoded(Array($0.value.encoded))) })
    try change(&members)
    return members.value.encoded()
  }

  private func failed(_ report: ReaderReport) -> Set<Code> {
    Set((report.checks + report.signatures.flatMap(\.checks)).filter { $0.outcome == .failed }.map(\.code))
  }

  // MARK: DeviceRequest

  @Test func `our own requests are signed by their reader`() throws {
    let report = try verify(signed(), isStrict: true)
    #expect(report.isAuthenticated && failed(report) == [])
    #expect(
      report.signatures.map(\.location) == [
        "docRequests[0].readerAuth", "docRequests[1].readerAuth", "readerAuthAll[0]",
      ])
    #expect(report.signatures.allSatisfy { $0.certificates.map(\.der) == [reader.leaf.der, root.der] })
  }

  @Test func `what is no request is named`() {
    for (bytes, detail) in [
      ([0xa0], "version is not 1.0 or 1.1"), ([0x80], "it is not a map"), ([0xa1], "cbor.truncated at byte 0"),
    ] as [([UInt8], String)] {
      let check = verify(bytes).checks.first { $0.code == .readerRequestMalformed }
      #expect(check?.outcome == .failed && check?.detail == detail)
    }
  }

  @Test func `a request of another form is named by its part`() throws {
    let item = try CBORItem(parsing: signed())
    let document = CBORValue.encoded(
      Array(try #require(item[key: "docRequests"]?.elements.map(Array.init)?.first).encoded))
    let signature = CBORValue.encoded(
      Array(try #require(item[key: "readerAuthAll"]?.elements.map(Array.init)?.first).encoded))
    func many(_ value: CBORValue) -> CBORValue { .array([CBORValue](repeating: value, count: Limits.documents + 1)) }
    let bound = Limits.documents
    let parts: [(name: String, value: CBORValue, detail: String)] = [
      ("version", "2.0", "version is not 1.0 or 1.1"), ("version", "11", "version is not 1.0 or 1.1"),
      ("docRequests", [], "docRequests is not an array of 1 to \(bound)"),
      ("docRequests", many(document), "docRequests is not an array of 1 to \(bound)"),
      ("docRequests", [["itemsRequest": .embedded([])]], "docRequests[0].itemsRequest is not a map in tag 24"),
      ("docRequests", [["itemsRequest": [:]]], "docRequests[0].itemsRequest is not a map in tag 24"),
      ("deviceRequestInfo", .embedded([]), "deviceRequestInfo is not a map in tag 24"),
      ("readerAuthAll", [], "readerAuthAll is not an array of 1 to \(bound)"),
      ("readerAuthAll", many(signature), "readerAuthAll is not an array of 1 to \(bound)"),
    ]
    for (name, value, detail) in parts {
      let check = verify(try changed { $0[.text(name)] = value }).checks.first { $0.code == .readerRequestMalformed }
      #expect(check?.outcome == .failed && check?.detail == detail, "\(name)")
    }
  }

  @Test func `every document must be covered by a good signature`() throws {
    #expect(failed(verify(DeviceRequest(request).encoded)) == [.readerAuthMissing])
    // Without the second document's signature, the signature over all documents covers it. Without that signature, none
    // does.
    let item = try CBORItem(parsing: signed())
    let documents = try #require(item[key: "docRequests"]?.elements.map(Array.init))
    let bare: CBORValue = ["itemsRequest": .encoded(Array(try #require(documents[1][key: "itemsRequest"]).encoded))]
    let list = CBORValue.array([.encoded(Array(documents[0].encoded)), bare])
    #expect(verify(try changed { $0["docRequests"] = list }).isAuthenticated)
    let report = verify(
      try changed {
        $0["docRequests"] = list
        $0["readerAuthAll"] = nil
      })
    #expect(!report.isAuthenticated && failed(report) == [.readerAuthMissing])
    #expect(report.checks.last?.detail == "no valid signature covers docRequests[1]")
  }

  @Test func `a request of another session does not verify`() throws {
    let other = AnnexCChallenge.transcript(encryptionInfo: "AAAA", origin: "https://evil.example")
    let report = try verify(signed(), other)
    #expect(!report.isAuthenticated && failed(report) == [.readerSignatureInvalid, .readerAuthMissing])
    // To the signature over all documents, another order is another request.
    let item = try CBORItem(parsing: signed())
    let documents = try #require(item[key: "docRequests"]?.elements.map(Array.init))
    let swapped = CBORValue.array(documents.reversed().map { .encoded(Array($0.encoded)) })
    let reordered = verify(try changed { $0["docRequests"] = swapped })
    #expect(!reordered.isAuthenticated && failed(reordered) == [.readerSignatureInvalid])
  }

  @Test func `a reader below another root is a stranger`() throws {
    let other = try Certificate(der: MockAuthority(seed: [1]).reader(dnsName: "shop.example", at: now).root)
    #expect(failed(try verify(signed(), roots: [other])) == [.readerUntrusted, .readerAuthMissing])
    let late = ReaderVerifier(roots: [root]).verify(
      deviceRequest: try signed(), over: transcript, at: now + 400 * 86_400)
    #expect(failed(late).contains(.readerUntrusted))
    // A stranger's signature beside a known one does no harm.
    let stranger = try ReaderFixture().identity
    let item = try CBORItem(parsing: DeviceRequest(request, signedBy: stranger, over: transcript).encoded)
    let theirs = try #require(item[key: "readerAuthAll"]?.elements.map(Array.init)?.first)
    let ours = try #require(
      CBORItem(parsing: signed())[key: "readerAuthAll"]?.elements.map(Array.init)?.first)
    let both = CBORValue.array([theirs, ours].map { .encoded(Array($0.encoded)) })
    #expect(verify(try changed { $0["readerAuthAll"] = both }).isAuthenticated)
  }

  @Test func `a certificate for something else is no reader's`() throws {
    let fixture = try ReaderFixture()
    let bytes = try DeviceRequest(request, signedBy: fixture.identity, over: transcript).encoded
    // It is trusted directly, and has no extended key usage.
    let report = verify(bytes, roots: [fixture.identity.leaf])
    #expect(failed(report) == [.readerCertificateProfile, .readerAuthMissing])
    // With an explicit option there is only a warning.
    let relaxed = ReaderVerifier(roots: [fixture.identity.leaf], relaxingProfile: true)
      .verify(deviceRequest: bytes, over: transcript, at: now)
    #expect(relaxed.isAuthenticated && outcome(of: .readerCertificateProfile, relaxed) == .warning)
    // OpenID4VP does not prescribe its usage, so it is only a warning there.
    let object = try object(by: fixture.identity)
    for isStrict in [false, true] {
      let report = ReaderVerifier(roots: [fixture.identity.leaf], isStrict: isStrict)
        .verify(requestObject: object, origin: "https://shop.example", at: now)
      #expect(report.isAuthenticated != isStrict)
      #expect(outcome(of: .readerCertificateProfile, report) == (isStrict ? .failed : .warning))
    }
  }

  private func outcome(of code: Code, _ report: ReaderReport) -> Check.Outcome? {
    report.signatures.first?.checks.first { $0.code == code }?.outcome
  }

  @Test func `what deviates from the readers' profile warns, and is refused in strict mode`() throws {
    let fixture = try ReaderFixture {
      $0.extensions = [.extendedKeyUsage(["1.0.18013.5.1.6"]), .keyUsage(.digitalSignature)]
      $0.extensions[1].isCritical = false
    }
    let bytes = try DeviceRequest(request, signedBy: fixture.identity, over: transcript).encoded
    for isStrict in [false, true] {
      let report = verify(bytes, roots: [fixture.root], isStrict: isStrict)
      #expect(report.isAuthenticated != isStrict)
      for code in [Code.readerCertificateProfile, .profileCriticality, .profileRevocationSource] {
        #expect(outcome(of: code, report) == (isStrict ? .failed : .warning), "\(code)")
      }
    }
  }

  @Test func `a reader's certificate that is signed by SHA-1 vouches for nobody`() throws {
    let fixture = try ReaderFixture {
      $0.extensions.append(.extendedKeyUsage(["1.0.18013.5.1.6"]))
      $0.signatureAlgorithm = .ecdsaWithSHA1
    }
    let bytes = try DeviceRequest(request, signedBy: fixture.identity, over: transcript).encoded
    #expect(failed(verify(bytes, roots: [fixture.root])) == [.readerAlgorithmUnsupported, .readerAuthMissing])
  }

  private func withSignature(_ change: (inout [CBORValue]) -> Void) throws -> [UInt8] {
    let item = try CBORItem(parsing: signed())
    let message = try #require(item[key: "readerAuthAll"]?.elements.map(Array.init)?.first)
    var fields = try #require(message.elements.map(Array.init)).map { CBORValue.encoded(Array($0.encoded)) }
    change(&fields)
    return try changed { $0["readerAuthAll"] = [.array(fields)] }
  }

  @Test func `what documents' own signatures do not cover needs one of the whole request`() throws {
    #expect(failed(verify(try changed { $0["readerAuthAll"] = nil })) == [.readerAuthMissing])
  }

  @Test func `a signature in another form is refused`() throws {
    #expect(failed(verify(try withSignature { $0[2] = .bytes([]) })) == [.readerAuthMalformed])
    #expect(failed(verify(try withSignature { $0.removeLast() })) == [.readerAuthMalformed])
    #expect(failed(verify(try withSignature { $0[1] = [:] })) == [.readerCertificateMissing])
    #expect(failed(verify(try withSignature { $0[1] = [33: .bytes([0x30, 0x00])] })) == [.readerCertificateMissing])
  }

  @Test func `an algorithm that is not the key's is refused`() throws {
    let other = CBORValue.bytes(CBORValue.map([(key: 1, value: -35)]).encoded())
    #expect(failed(verify(try withSignature { $0[0] = other })) == [.readerAlgorithmUnsupported])
    #expect(failed(verify(try withSignature { $0[0] = .bytes([]) })) == [.readerAlgorithmUnsupported])
  }

  // MARK: Request objects

  private func object(
    _ claims: [JSON.Member] = [], type: String = "oauth-authz-req+jwt", without: Set<String> = [],
    payload other: JSON? = nil, by signer: ReaderIdentity? = nil
  ) throws -> [UInt8] {
    let reader = signer ?? self.reader
    let names = Set(claims.map(\.name)).union(without)
    let usual: [JSON.Member] = [
      .init("client_id", .string(reader.clientID)), .init("aud", "https://self-issued.me/v2"),
      .init("response_mode", "dc_api.jwt"), .init("expected_origins", ["https://shop.example"]),
    ]
    let payload = JSON.object(usual.filter { !names.contains($0.name) } + claims)
    let header: [JSON.Member] = [
      .init("alg", "ES256"), .init("typ", .string(type)), .init("x5c", [.string(Base64.encode(reader.leaf.der))]),
      .init("client_id", .string(reader.clientID)),
    ]
    return try CompactJWS.sign((other ?? payload).serialized(), header: header, with: reader.key)
  }

  private func verify(object: [UInt8], origin: String? = "https://shop.example") -> ReaderReport {
    ReaderVerifier(roots: [root]).verify(requestObject: object, origin: origin, at: now)
  }

  @Test func `our own request objects are signed by their reader`() throws {
    let challenge = try OpenID4VPFixture().challenge()
    let made = OpenID4VPRequest(request, challenge: challenge)
    let origin: String? = if case .origin(let origin) = challenge.recipient { origin } else { nil }
    #expect(verify(object: Array(try made.signed(by: reader).utf8), origin: origin).isAuthenticated)
    let several = verify(object: try made.signed(by: [reader, reader]).serialized(), origin: origin)
    #expect(several.isAuthenticated && several.signatures.map(\.location) == ["signatures[0]", "signatures[1]"])
    #expect(verify(object: try object()).isAuthenticated)
    #expect(failed(verify(object: Array("{}".utf8))) == [.readerRequestMalformed])
    #expect(failed(verify(object: try object(type: "JWT"))) == [.readerAuthMalformed, .readerAuthMissing])
  }

  /// The members of the general serialization, with this number of copies of the signature.
  private func several(_ object: [UInt8], times: Int) -> [UInt8] {
    let parts = String(decoding: object, as: UTF8.self).split(separator: ".").map { JSON.string(String($0)) }
    let signature: JSON = ["protected": parts[0], "signature": parts[2]]
    return JSON.members(["payload": parts[1], "signatures": .array([JSON](repeating: signature, count: times))])
      .serialized()
  }

  @Test func `a request object has signatures, and not too many`() throws {
    for count in [1, Limits.documents] {
      #expect(verify(object: several(try object(), times: count)).isAuthenticated)
    }
    for count in [0, Limits.documents + 1] {
      let report = verify(object: several(try object(), times: count))
      #expect(failed(report) == [.readerRequestMalformed] && report.signatures.isEmpty)
    }
    #expect(failed(verify(object: Array("e30.e30.AAAA".utf8))).contains(.readerAuthMalformed))
  }

  @Test func `what is signed well and is no object asks for nothing`() throws {
    let report = verify(object: several(try object(payload: []), times: 1))
    #expect(!report.isAuthenticated && failed(report) == [.readerRequestMalformed])
    for code in [Code.readerOriginMismatch, .readerAudience] {
      #expect(report.checks.first { $0.code == code }?.outcome == .notRun)
    }
  }

  @Test func `the client identifier must be the certificate's`() throws {
    for name in ["x509_hash:AAAA", "x509_san_dns:evil.example", "redirect_uri:https://shop.example", "shop.example"] {
      let report = verify(object: try object([.init("client_id", .string(name))]))
      #expect(!report.isAuthenticated && failed(report) == [.readerClientMismatch, .readerAuthMissing], "\(name)")
    }
    #expect(verify(object: try object([.init("client_id", "x509_san_dns:shop.example")])).isAuthenticated)
    #expect(failed(verify(object: try object(without: ["client_id"]))) == [.readerClientMismatch, .readerAuthMissing])
    let older: [JSON.Member] = [.init("client_id", "shop.example"), .init("client_id_scheme", "x509_san_dns")]
    #expect(verify(object: try object(older)).isAuthenticated)
  }

  @Test func `a request object is for the origins that it names`() throws {
    #expect(failed(verify(object: try object(), origin: "https://evil.example")) == [.readerOriginMismatch])
    #expect(failed(verify(object: try object(without: ["expected_origins"]))) == [.readerOriginMismatch])
    #expect(failed(verify(object: try object([.init("expected_origins", [])]), origin: nil)) == [.readerOriginMismatch])
    // By redirect, no page passes it on.
    let redirected = try object([.init("response_mode", "direct_post.jwt")], without: ["expected_origins"])
    #expect(verify(object: redirected).isAuthenticated)
    let unknown = verify(object: try object(), origin: nil)
    #expect(unknown.checks.first { $0.code == .readerOriginMismatch }?.outcome == .notRun)
  }

  @Test func `another audience warns`() throws {
    let report = verify(object: try object([.init("aud", "https://wallet.example")]))
    #expect(report.isAuthenticated)
    #expect(report.checks.first { $0.code == .readerAudience }?.outcome == .warning)
  }
}

/// Requests that others published and signed.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct PublishedReaderTests {
  @Test func `the reader of Annex D is known by its root, over its own session`() throws {
    let folder = "iso18013-5-annexD/"
    let request = try PublishedVectors.bytes(folder + "D.4.1.1-device-request.cbor")
    let transcript = try SessionTranscript(encoded: PublishedVectors.bytes(folder + "D.5.1-session-transcript.cbor"))
    let root = try Certificate(der: PublishedVectors.bytes(folder + "D.5.4-reader-root-cert.der"))
    let now = try #require(Timestamp(rfc3339: "2020-12-01T00:00:00Z"))
    let verifier = ReaderVerifier(roots: [root])
    let report = verifier.verify(deviceRequest: request, over: transcript, at: now)
    #expect(report.isAuthenticated && report.signatures.count == 1)
    let other = try SessionTranscript(encoded: [0x83, 0xf6, 0xf6, 0xf6])
    #expect(!verifier.verify(deviceRequest: request, over: other, at: now).isAuthenticated)
    let iaca = try Certificate(der: PublishedVectors.bytes(folder + "D.5.2-iaca-cert.der"))
    #expect(!ReaderVerifier(roots: [iaca]).verify(deviceRequest: request, over: transcript, at: now).isAuthenticated)
  }

  /// A certificate of an older profile, with a different type name, and signed by an authority's certificate.
  @Test func `the request object of Annex B is signed well, and refused for its type and certificate`() throws {
    let text = try PublishedVectors.bytes("iso18013-7-annexB/authorization-request.jar.txt").filter { $0 > 0x20 }
    let jws = try CompactJWSParts(text)
    let now = try #require(Timestamp(rfc3339: "2024-05-01T00:00:00Z"))
    let report = ReaderVerifier(roots: [jws.leaf]).verify(requestObject: text, origin: nil, at: now)
    let checks = try #require(report.signatures.first?.checks)
    #expect(checks.first { $0.code == .readerSignatureInvalid }?.outcome == .passed)
    #expect(checks.filter { $0.outcome == .failed }.map(\.code) == [.readerAuthMalformed, .readerUntrusted])
    #expect(!report.isAuthenticated)
  }

  /// Its origin is not published.
  @Test func `the request of Apple's page is refused for its session alone`() throws {
    struct Sample: Decodable {
      struct Data: Decodable {
        let deviceRequest: String
        let encryptionInfo: String
      }
      let data: Data
    }
    let sample: Sample = try PublishedVectors.json("apple-dcapi/apple-doc-sample-request.json")
    let request = try #require(Base64.decodeURLSafe(sample.data.deviceRequest))
    let transcript = AnnexCChallenge.transcript(
      encryptionInfo: sample.data.encryptionInfo, origin: "https://shop.example")
    let item = try CBORItem(parsing: request)
    let message = try COSESign1(parsing: try #require(item[key: "readerAuthAll"]?.elements.map { Array($0) }?.first))
    let leaf = try Certificate(der: try #require(message.headers.x5chain?.first))
    let report = ReaderVerifier(roots: [leaf]).verify(
      deviceRequest: request, over: transcript, at: leaf.validity.lowerBound + 1)
    let failed = report.signatures.flatMap(\.checks).filter { $0.outcome == .failed }.map(\.code)
    #expect(failed.contains(.readerSignatureInvalid) && !failed.contains(.readerUntrusted))
  }

  private struct CompactJWSParts {
    let leaf: Certificate

    init(_ text: [UInt8]) throws {
      let header = try #require(
        Base64.decodeURLSafe(String(decoding: text.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)))
      let first = try JSON(parsing: header)["x5c"]?.array?.first?.string
      leaf = try Certificate(der: try #require(first.flatMap(Base64.decode)))
    }
  }
}
