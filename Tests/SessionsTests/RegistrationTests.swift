import Base
import CBOR
import Cryptography
import Mdoc
import Presentation
import TestSupport
import Testing
import Trust

@testable import Sessions

/// Registration certificates of EU relying parties: the requests that contain one, and the data that it permits.
@Suite struct RegistrationTests {
  private static let web = ["openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned"]
  private let registrar: RegistrationFixture
  private let now = FakeClock().now

  init() throws { registrar = try RegistrationFixture() }

  private func fixture(_ certificates: [[UInt8]]) throws -> OpenID4VPServiceFixture {
    try OpenID4VPServiceFixture(registrations: certificates)
  }

  private func claims(_ jws: String?) throws -> JSON {
    let parts = (jws ?? "").split(separator: ".")
    return try JSON(parsing: Base64.decodeURLSafe(String(try #require(parts.dropFirst().first))) ?? [])
  }

  /// `verifier_info` of each request of OpenID4VP, by protocol, and of the link's request.
  private func verifierInfo(_ fixture: OpenID4VPServiceFixture) async throws -> [JSON?] {
    let session = try await fixture.create(Self.web, [:])
    let multisigned = session.requestData(Self.web[2])?["request"]?["payload"]?.string
    let link = try await fixture.requestObject(of: fixture.create("openid4vp"))
    return [
      session.requestData(Self.web[0])?["verifier_info"],
      try claims(session.requestData(Self.web[1])?["request"]?.string)["verifier_info"],
      try claims("header." + (multisigned ?? ""))["verifier_info"],
      try claims(String(decoding: link, as: UTF8.self))["verifier_info"],
    ]
  }

  /// `euWrprc` of every document's request, by the two protocols that send a DeviceRequest.
  private func inDeviceRequests(_ fixture: OpenID4VPServiceFixture) async throws -> [[UInt8]?] {
    let isos = [("org-iso-mdoc", "deviceRequest"), ("iso-18013-5-proximity", "device_request")]
    var found: [[UInt8]?] = []
    for (name, member) in isos {
      let two = [OpenID4VPServiceFixture.document(), OpenID4VPServiceFixture.document(docType: "org.example.other")]
      let session = try await fixture.create([name], ["documents": .array(two)])
      let request = try #require(session.requestData(name)?[member]?.string.flatMap(Base64.decodeURLSafe))
      for document in try #require(CBORItem(parsing: request)[key: "docRequests"]?.elements) {
        let items = try #require(document[key: "itemsRequest"]?.embedded)
        found.append(items[key: "requestInfo"]?[key: "euWrprc"]?.bytes.map { Array($0) })
      }
    }
    return found
  }

  private var both: JSON {
    [
      RegistrationFixture.credential([.string(Namespace.mDL), "given_name"]),
      RegistrationFixture.credential([.string(Namespace.mDL)], docType: "org.example.other"),
    ]
  }

  @Test func `every signed request of OpenID4VP and every DeviceRequest carries it`() async throws {
    let jws = try registrar.jws(["credentials": both], at: now)
    let fixture = try fixture([jws])
    let info: JSON = [["format": "registration_cert", "data": .string(String(decoding: jws, as: UTF8.self))]]
    #expect(try await verifierInfo(fixture) == [nil, info, info, info])
    #expect(try await inDeviceRequests(fixture) == [jws, jws, jws, jws])
  }

  @Test func `wallets respond as without one`() async throws {
    let fixture = try fixture([registrar.jws(at: now)])
    for name in Self.web + ["org-iso-mdoc"] {
      let session = try await fixture.create(name)
      let answer = try fixture.wallet.answer(
        digitalCredential: name, data: try #require(session.requestData(name)), origin: "https://shop.example",
        at: now)
      #expect(try await fixture.submit(answer.data, by: name, to: session).status == "verified", "\(name)")
    }
  }

  @Test func `only DeviceRequests carry a CWT`() async throws {
    let cwt = try registrar.cwt(["credentials": both], at: now)
    let fixture = try fixture([cwt])
    #expect(try await verifierInfo(fixture) == [nil, nil, nil, nil])
    #expect(try await inDeviceRequests(fixture) == [cwt, cwt, cwt, cwt])
  }

  @Test func `without one nothing is sent, and everything may be asked`() async throws {
    let fixture = try fixture([])
    #expect(try await verifierInfo(fixture) == [nil, nil, nil, nil])
    #expect(try await inDeviceRequests(fixture) == [nil, nil, nil, nil])
  }

  @Test func `the session names the intended use, where there are several`() async throws {
    let first = try registrar.jws(at: now)
    let second = try registrar.jws(["intended_use_id": "use-2"], at: now)
    let fixture = try fixture([first, second])
    let session = try await fixture.create(["openid4vp"], ["intended_use_id": "use-2"])
    let sent = try claims(String(decoding: try await fixture.requestObject(of: session), as: UTF8.self))
    #expect(
      sent["verifier_info"]?.array?.first?["data"]?.string.map { Array($0.utf8) } == second)
    for members: [String: JSON] in [[:], ["intended_use_id": "use-3"], ["intended_use_id": ""]] {
      let error = await #expect(throws: ServiceError.self) { try await fixture.create(["openid4vp"], members) }
      #expect(error?.code == .apiInvalidRequest && error?.pointers.map(\.pointer) == ["/intended_use_id"])
    }
    // A party without certificates has none to name.
    let error = await #expect(throws: ServiceError.self) {
      try await self.fixture([]).create(["openid4vp"], ["intended_use_id": "use-1"])
    }
    #expect(error?.pointers.map(\.pointer) == ["/intended_use_id"])
  }

  @Test func `a link whose intended use is configured no more is not served`() async throws {
    let first = try fixture([registrar.jws(at: now)])
    let content = SessionContent(
      request: OpenID4VPServiceFixture.request, origin: nil, intendedUseID: "use-1", clientReferenceID: nil,
      metadata: [])
    #expect(SessionContent(storedJSON: content.storedJSON) == content)
    let session = try await first.create("openid4vp")
    #expect(try await first.requestObject(of: session).count > 0)
    var configuration = ServiceConfiguration(
      mode: .test,
      relyingParties: try RelyingParties([fixture([registrar.jws(["intended_use_id": "x"], at: now)]).shop]),
      protocols: [OpenID4VPRedirectProtocol()], trust: CurrentTrust(.trustingNobody),
      revocation: NoRevocationSource(), sealingKeys: [try OpenID4VPServiceFixture.sealingKey()])
    configuration.publicURL = "https://verifier.example"
    let reloaded = try first.service.reconfigured(by: configuration)
    let id = session["id"]?.string ?? ""
    let error = await #expect(throws: ServiceError.self) { try await reloaded.walletRequest(id, of: "shop") }
    #expect(error?.code == .sessionNotFound)
  }

  @Test func `a certificate that has ended is not sent, and still says what may be asked`() async throws {
    let ended = try fixture([registrar.jws(["exp": .integer(now.secondsSince1970 - 1)], at: now)])
    #expect(try await verifierInfo(ended) == [nil, nil, nil, nil])
    let documents: JSON = [OpenID4VPServiceFixture.document([("org.iso.18013.5.1", "portrait")])]
    let error = await #expect(throws: ServiceError.self) {
      try await ended.create(["openid4vp"], ["documents": documents])
    }
    #expect(error?.code == .apiOutsideRegistration)
  }

  @Test func `what is not registered is not asked`() async throws {
    let fixture = try fixture([registrar.jws(at: now)])
    let aamva = "org.iso.18013.5.1.aamva"
    let refused: [(JSON, [String])] = [
      (OpenID4VPServiceFixture.document([(Namespace.mDL, "portrait")]), ["/documents/0/elements/0"]),
      (
        OpenID4VPServiceFixture.document([(Namespace.mDL, "given_name"), (Namespace.mDL, "portrait")]),
        ["/documents/0/elements/1"]
      ),
      (OpenID4VPServiceFixture.document([(Namespace.mDL, "given_names")]), ["/documents/0/elements/0"]),
      (OpenID4VPServiceFixture.document(docType: "org.example.other"), ["/documents/0/doc_type"]),
      (
        OpenID4VPServiceFixture.document([(Namespace.mDL, "given_name")], .init("age_over", [18])),
        ["/documents/0/age_over"]
      ),
      (
        OpenID4VPServiceFixture.document([(Namespace.mDL, "given_name")], .init("minimum_age", 18)),
        ["/documents/0/minimum_age"]
      ),
    ]
    for name in ["openid4vp", "openid4vp-v1-unsigned", "org-iso-mdoc", "iso-18013-5-proximity"] {
      for (document, pointers) in refused {
        let error = await #expect(throws: ServiceError.self) {
          try await fixture.create([name], ["documents": [document]])
        }
        #expect(error?.code == .apiOutsideRegistration && error?.pointers.map(\.pointer) == pointers, "\(document)")
      }
      // A registered namespace has all its elements; the entries of one document type add up.
      let asked = OpenID4VPServiceFixture.document([(Namespace.mDL, "given_name"), (aamva, "DHS_compliance")])
      _ = try await fixture.create([name], ["documents": [asked]])
    }
  }

  @Test(
    arguments: [
      RegistrationFixture.credential(["org.iso.18013.5.1", "given_name"], format: "dc+sd-jwt"),
      RegistrationFixture.credential(["org.iso.18013.5.1", "given_name"], docType: "org.iso.18013.5.1.MDL"),
      RegistrationFixture.credential([]), RegistrationFixture.credential(["org.iso.18013.5.1", "given_name", "x"]),
      RegistrationFixture.credential(["org.iso.18013.5.1", .null]), RegistrationFixture.credential("given_name"),
      ["format": "mso_mdoc", "meta": ["doctype_value": "org.iso.18013.5.1.mDL"]],
      ["format": "mso_mdoc", "claim": [["path": ["org.iso.18013.5.1"]]]], "mso_mdoc",
    ] as [JSON])
  func `an entry for something else registers nothing`(entry: JSON) async throws {
    let fixture = try fixture([registrar.jws(["credentials": [entry]], at: now)])
    let error = await #expect(throws: ServiceError.self) { try await fixture.create("openid4vp") }
    #expect(error?.code == .apiOutsideRegistration)
  }
}
