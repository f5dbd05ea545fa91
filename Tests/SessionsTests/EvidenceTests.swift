import Base
import Cryptography
import Mdoc
import Testing
import Trust

@testable import Sessions

/// Bundles of evidence: the seal, and what breaks it.
@Suite("Evidence")
struct EvidenceTests {
  private let key: EvidenceKey
  private let now = FakeClock().now

  init() throws { key = try Self.key(1) }

  private static func key(_ byte: UInt8) throws -> EvidenceKey {
    try EvidenceKey(SecretBytes(copying: [UInt8](repeating: byte, count: EvidenceKey.length)))
  }

  /// The bundle of the fake wallet's good response, or a changed one.
  private func bundle(
    mode: ServerMode = .test, protocolName: String = "apple-in-app", answer: String = "good",
    trustSnapshot: String = "5eed",
    program: String = ProgramVersion.text, clockSkew: Int64 = 60
  ) throws -> EvidenceBundle {
    let store = try Fixture.trust()
    let report = VerificationReport(
      verifiedAt: now, trustSnapshot: trustSnapshot, checks: [Check(.envelopeMalformed, .passed)],
      documents: [DocumentReport(docType: DocType.mDL, checks: [Check(.digestMismatch, .passed)])])
    return EvidenceBundle(
      mode: mode, session: try SessionID.random(), relyingParty: "shop", protocolName: protocolName,
      request: PresentationRequest(documents: []), requestData: JSONText(["nonce": "n"]),
      material: SharedSecret(SecretBytes(copying: Array("material of n".utf8))),
      response: .bytes(Array(answer.utf8)), openingSecret: nil, clockSkew: clockSkew,
      trust: try TrustExcerpt(of: store, anchors: [store.anchors[0].certificate.fingerprint]),
      revocation: EvidenceRevocation(mode: mode),
      report: ReportRecord(report, id: ReportID(of: try SessionID.random())),
      program: program)
  }

  private func seal(_ bundle: EvidenceBundle) throws -> [UInt8] { try key.seal(bundle.json.serialized()) }

  /// The code of the fault with which a bundle is not opened.
  private func fault(_ sealed: [UInt8], _ keys: [EvidenceKey]? = nil) -> Code? {
    do throws(EvidenceError) {
      _ = try EvidenceBundle(opening: sealed, with: keys ?? [key])
      return nil
    } catch {
      return error.code
    }
  }

  @Test("what is sealed opens as it was, and comes to its report")
  func roundTrip() async throws {
    let bundle = try bundle()
    let opened = try EvidenceBundle(opening: seal(bundle), with: [try Self.key(2), key])
    #expect(opened.request == bundle.request && opened.requestData == bundle.requestData)
    #expect(
      opened.material.bytes.exposed() == bundle.material.bytes.exposed() && opened.trust.json == bundle.trust.json)
    #expect(opened.session == bundle.session && opened.clockSkew == 60 && opened.openingSecret == nil)
    let found = await opened.verify(by: [FakeWallet()])
    #expect(found.fault == nil && found.report == bundle.report)
    #expect(!"\(opened)".contains("good") && Mirror(reflecting: opened).children.isEmpty)
  }

  @Test("no bit can be changed and no byte be missing")
  func changed() throws {
    let sealed = try seal(bundle())
    let header = "mdoc-evidence".utf8.count + 1 + 8
    for index in Array(0..<(header + 40)) + [sealed.count / 2, sealed.count - 1] {
      var damaged = sealed
      damaged[index] ^= 1
      let expected: Code =
        switch index {
        case ..<13: .evidenceMalformed
        case 13: .evidenceVersionUnsupported
        case ..<header: .evidenceKeyMismatch
        default: .evidenceSealBroken
        }
      #expect(fault(damaged) == expected, "byte \(index)")
    }
    for count in [0, 5, 13, 14, header, header + 12, header + 27] {
      #expect(fault(Array(sealed[..<count])) == .evidenceMalformed, "\(count) bytes")
    }
    #expect(fault(Array(sealed.dropLast())) == .evidenceSealBroken)
    #expect(fault(sealed + [0]) == .evidenceSealBroken)
  }

  @Test("another key does not open it, a newer version is named, and size has its limit")
  func refused() throws {
    let sealed = try seal(bundle())
    #expect(fault(sealed, [try Self.key(2)]) == .evidenceKeyMismatch)
    #expect(fault(sealed, []) == .evidenceKeyMismatch)
    var newer = sealed
    newer[13] = 2
    #expect(fault(newer) == .evidenceVersionUnsupported)
    #expect(fault(sealed + [UInt8](repeating: 0, count: Limits.evidenceBytes)) == .evidenceTooLarge)
    #expect(fault(try key.seal(Array("{}".utf8))) == .evidenceMalformed)
    #expect(throws: ConfigurationError.self) { try EvidenceKey(SecretBytes(copying: [1, 2, 3])) }
  }

  @Test("a response with another report proves nothing")
  func mismatch() async throws {
    for bundle in [
      try bundle(answer: "bad"), try bundle(trustSnapshot: "other"), try bundle(protocolName: "openid4vp"),
    ] {
      let opened = try EvidenceBundle(opening: seal(bundle), with: [key])
      let found = await opened.verify(by: [FakeWallet()])
      let (json, fault) = EvidenceRendering.json(opened, found)
      #expect(fault?.code == .evidenceReportMismatch && fault?.detail == nil)
      #expect(json["status"] == "failed" && json["result"]?.isNull == true)
      #expect(json["last_error"]?["code"] == "evidence.report_mismatch")
    }
    let old = await (try bundle(answer: "bad", program: "0.1.0")).verify(by: [FakeWallet()])
    #expect(old.fault?.detail?.contains("0.1.0") == true)
  }

  @Test("a bundle that the audit log does not have, or whose log does not verify, was given out by nobody")
  func trace() throws {
    let bundle = try bundle()
    let sealed = try seal(bundle)
    func fault(
      of bytes: [UInt8], in chain: AuditChainFixture, without last: Int = 0, noted: [AuditHead] = []
    ) -> EvidenceError? {
      var trace = EvidenceTrace(of: bundle, sealed: bytes, noted: noted)
      for (index, line) in chain.lines.dropLast(last).enumerated() {
        trace.read(line.bytes, at: AuditPosition(file: "a", line: index + 1))
      }
      trace.endFile("a")
      return trace.fault()
    }
    var chain = try AuditChainFixture()
    #expect(fault(of: sealed, in: chain)?.code == .evidenceNotInAudit)
    chain.append(try AuditChainFixture.entry(session: bundle.session, evidence: sealed))
    #expect(fault(of: sealed, in: chain) == nil)
    // The holder of the key can also make a matching log, but not one that matches an earlier head.
    let genuine = chain.head
    var forged = try AuditChainFixture(entries: 0)
    forged.append(try AuditChainFixture.entry(session: bundle.session, evidence: sealed))
    #expect(fault(of: sealed, in: forged) == nil)
    #expect(fault(of: sealed, in: forged, noted: [genuine])?.code == .evidenceNotInAudit)
    #expect(fault(of: sealed, in: chain, noted: [genuine]) == nil)
    // The same content, sealed again, is a different bundle.
    #expect(fault(of: try seal(bundle), in: chain)?.code == .evidenceNotInAudit)
    #expect(fault(of: sealed, in: chain, without: 1)?.detail?.contains("audit.head_missing") == true)
  }

  @Test("a clock's allowance that no server has makes it no bundle")
  func clockSkew() throws {
    #expect(fault(try seal(bundle(clockSkew: Limits.longestClockSkew))) == nil)
    for skew in [-1, Limits.longestClockSkew + 1, .max] {
      #expect(fault(try seal(bundle(clockSkew: skew))) == .evidenceMalformed)
    }
  }

  @Test("what only tests trust is trusted by no bundle of a live server")
  func liveMode() throws {
    #expect(fault(try seal(bundle())) == nil)
    #expect(fault(try seal(bundle(mode: .live))) == .evidenceMalformed)
  }

  @Test("a bundle says its mode, and one from before there were three says it by livemode")
  func mode() throws {
    var members = try bundle().json.object ?? []
    #expect(members.first { $0.name == "livemode" }?.value == false)
    #expect(members.first { $0.name == "mode" }?.value == "test")
    members.removeAll { $0.name == "mode" }
    #expect(EvidenceBundle(.object(members))?.mode == .test)
    for other: JSON in ["live", "none", 1] {
      #expect(EvidenceBundle(.object(members + [.init("mode", other)])) == nil, "\(other)")
    }
  }

  @Test("an anchor is kept with all of its settings")
  func anchors() throws {
    var anchor = try Fixture.trust().anchors[0]
    anchor.docTypes = [DocType.mDL]
    anchor.allowsPlainHTTP = true
    anchor.allowsJWTStatusLists = true
    anchor.statusSigners = [anchor.certificate]
    anchor.trustedUntil = now
    anchor.maxPathLength = 2
    anchor.relaxed = [.anchorExpired]
    let store = try TrustStore(anchors: [anchor], allowsTestCertificates: true)
    let excerpt = try TrustExcerpt(of: store, anchors: [anchor.certificate.fingerprint])
    let read = try #require(TrustExcerpt(excerpt.json, allowsTestCertificates: true))
    #expect(read.json == excerpt.json && read.snapshot == store.snapshot)
    #expect(throws: TrustStoreError.empty) { try TrustExcerpt(of: store, anchors: ["00"]) }
    // Bundles of an earlier version have no rule for the addresses of revocation lists; that version's rule applies.
    let later: Set = ["crl_addresses", "jwt_status_lists"]
    for member in excerpt.json["anchors"]?.array?.first?.object ?? [] where !later.contains(member.name) {
      let rest = (excerpt.json["anchors"]?.array?.first?.object ?? []).filter { $0.name != member.name }
      let json: JSON = ["snapshot": "00", "anchors": [.object(rest)]]
      #expect(TrustExcerpt(json, allowsTestCertificates: true) == nil, "without \(member.name)")
    }
  }

  @Test("what may not be kept is declined, and what is too large is not kept")
  func drafts() throws {
    let anchor = try Fixture.trust().anchors[0].certificate.fingerprint
    let asking = RelyingParty(id: "shop", policies: .init(evidenceKey: key))
    let bundle = try bundle()
    let service = try Fixture().service
    func draft(for party: RelyingParty) throws -> EvidenceDraft? {
      EvidenceDraft(
        of: bundle.response, by: FakeWallet(), to: .kept(in: bundle), for: party, trust: try Fixture.trust(),
        mode: .test)
    }
    #expect(try draft(for: RelyingParty(id: "shop")) == nil)
    var draft = try #require(try draft(for: asking))
    func evidence(_ retention: Retention) throws -> (status: EvidenceStatus, bundle: [UInt8]?) {
      try draft.evidence(
        of: Fixture.presentation(retention: retention, anchor: anchor), bundle.report, session: bundle.session,
        request: bundle.request, relyingParty: asking, service: service)
    }
    let declined = try evidence(.none)
    #expect(declined.status == .declined && declined.bundle == nil)
    let kept = try evidence(.unspecified)
    #expect(kept.status == .kept)
    let opened = try EvidenceBundle(opening: try #require(kept.bundle), with: [key])
    #expect(opened.report == bundle.report)
    let list = RevocationList(address: "https://lists.example", bytes: [UInt8](repeating: 1, count: 7 << 20))
    var found = RevocationEvidence()
    let question = RevocationQuestion(.certificates, path: [])
    found.note(.good, for: question, by: [list])
    draft.revocation = EvidenceRevocation(of: [question], foundIn: found, mode: .test)
    let large = try evidence(.unspecified)
    #expect(large.status == .tooLarge && large.bundle == nil)
  }

  @Test("a session without evidence has no bundle")
  func none() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.create()
    #expect(await code { _ = try await fixture.service.evidence(of: id, as: fixture.full) } == .apiNotFound)
  }
}
