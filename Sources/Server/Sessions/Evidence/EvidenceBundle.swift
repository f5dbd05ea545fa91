import Base
import Cryptography
import Longfellow
import Mdoc
import Trust

/// Everything that one verdict rests on: with it the ordinary verifier comes to the same report again, anywhere and
/// without a network.
///
/// The answer is kept as it was posted, with the challenge that it answered; of the trust store the anchors in question;
/// of publishers the lists as they were signed. A merchant's private key is not in it, only what opens this one answer.
package struct EvidenceBundle: Sendable {
  /// Of a sealed one.
  package static let mediaType = "application/octet-stream"

  /// That of the server that kept it. What only test mode or staging trusts is trusted only in a bundle of that mode.
  package let mode: ServerMode
  /// The version of the program that kept it.
  package let program: String
  package let session: SessionID
  package let relyingParty: String
  package let protocolName: String
  package let request: PresentationRequest
  /// The request as the wallet had it.
  let requestData: JSONText
  /// What the protocol kept of the challenge, which is used up.
  let material: SharedSecret
  let answer: WalletAnswer.Content
  /// What opens the answer beside the challenge: `WalletProtocol.openingSecret`.
  let openingSecret: SharedSecret?
  let clockSkew: Int64
  /// Whether the session's proofs might be stamped with a later time of their day: `ProofPolicy.acceptsEndOfDay`.
  let acceptsEndOfDay: Bool
  let trust: TrustExcerpt
  let revocation: EvidenceRevocation
  /// As it was given.
  package let report: ReportRecord

  /// Opens what a server gave out.
  package init(opening sealed: [UInt8], with keys: [EvidenceKey]) throws(EvidenceFault) {
    let content = try EvidenceKey.open(sealed, with: keys)
    // A bundle that opens was sealed with the key. It is unreadable only if we, or somebody else with the key, erred.
    guard let json = try? JSON(parsing: content, values: .max), let bundle = EvidenceBundle(json) else {
      throw EvidenceFault(.evidenceMalformed, "the content is not that of a bundle")
    }
    self = bundle
  }

  init(
    mode: ServerMode, session: SessionID, relyingParty: String, protocolName: String, request: PresentationRequest,
    requestData: JSONText, material: SharedSecret, answer: WalletAnswer.Content, openingSecret: SharedSecret?,
    clockSkew: Int64, trust: TrustExcerpt, revocation: EvidenceRevocation, report: ReportRecord,
    acceptsEndOfDay: Bool = false, program: String = ProgramVersion.text
  ) {
    self.mode = mode
    self.program = program
    self.session = session
    self.relyingParty = relyingParty
    self.protocolName = protocolName
    self.request = request
    self.requestData = requestData
    self.material = material
    self.answer = answer
    self.openingSecret = openingSecret
    self.clockSkew = clockSkew
    self.acceptsEndOfDay = acceptsEndOfDay
    self.trust = trust
    self.revocation = revocation
    self.report = report
  }
}

/// Personal, all of it.
extension EvidenceBundle: CustomStringConvertible, CustomReflectable {
  package var description: String { "EvidenceBundle(\(session), redacted)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The content of a bundle inside its seal.
extension EvidenceBundle {
  /// Here the challenge's material and the secret that opens the answer are ordinary text, not wiped memory, until the
  /// bundle is sealed. They open only this answer, which stands beside them.
  var json: JSON {
    .members([
      "program": .string(program), "livemode": .bool(mode.isLive), "mode": .string(mode.rawValue),
      "session": .string(session.text),
      "relying_party": .string(relyingParty), "protocol": .string(protocolName),
      "request": request.storedJSON, "request_data": .written(requestData),
      "material": .string(Base64.encode(material.bytes.exposed())), "answer": Self.json(answer),
      "opening_secret": openingSecret.map { .string(Base64.encode($0.bytes.exposed())) },
      "clock_skew": .integer(clockSkew), "zk_end_of_day": .bool(acceptsEndOfDay),
      "trust": trust.json, "revocation": revocation.json, "report": report.writtenOut,
    ])
  }

  /// Nil for what `json` did not give.
  init?(_ json: JSON) {
    guard let program = json["program"]?.string, let mode = Self.mode(json),
      let session = json["session"]?.string.flatMap(SessionID.init), let party = json["relying_party"]?.string,
      let protocolName = json["protocol"]?.string,
      let request = json["request"].flatMap(PresentationRequest.init(storedJSON:)),
      let requestData = json["request_data"].map(JSONText.init),
      let material = json["material"]?.string.flatMap(Base64.decode), let answer = json["answer"].flatMap(Self.answer),
      let clockSkew = json["clock_skew"]?.integer, (0...Limits.longestClockSkew).contains(clockSkew),
      let trust = json["trust"].flatMap({
        TrustExcerpt($0, allowsTestCertificates: mode == .test, allowsTestTier: mode != .live)
      }),
      let revocation = json["revocation"].flatMap({ EvidenceRevocation($0, mode: mode) }),
      let report = json["report"].flatMap(ReportRecord.init(storedJSON:))
    else { return nil }
    self.init(
      mode: mode, session: session, relyingParty: party, protocolName: protocolName, request: request,
      requestData: requestData, material: SharedSecret(SecretBytes(copying: material)), answer: answer,
      openingSecret: json["opening_secret"]?.string.flatMap(Base64.decode).map {
        SharedSecret(SecretBytes(copying: $0))
      }, clockSkew: clockSkew, trust: trust,
      revocation: revocation, report: report, acceptsEndOfDay: json["zk_end_of_day"]?.bool ?? false, program: program)
  }

  /// A bundle from before the member `mode` says it by `livemode` alone. Nil where the two contradict each other.
  private static func mode(_ json: JSON) -> ServerMode? {
    guard let isLive = json["livemode"]?.bool else { return nil }
    guard let name = json["mode"] else { return isLive ? .live : .test }
    return name.string.flatMap(ServerMode.init).flatMap { $0.isLive == isLive ? $0 : nil }
  }

  private static func json(_ answer: WalletAnswer.Content) -> JSON {
    switch answer {
    case .bytes(let bytes): ["bytes": .string(Base64.encode(bytes))]
    case .parameters(let parameters): ["parameters": parameters]
    }
  }

  private static func answer(_ json: JSON) -> WalletAnswer.Content? {
    if let parameters = json["parameters"] { return .parameters(parameters) }
    return json["bytes"]?.string.flatMap(Base64.decode).map { .bytes($0) }
  }
}

extension EvidenceBundle {
  /// - `fault` is nil where the answer was accepted again, with the report that was given.
  package typealias Verification = (verdict: Verdict, report: ReportRecord, fault: EvidenceFault?)

  /// Verifies the answer once more, by the protocol and the verifier that servers use, at the time and with the trust
  /// and the lists of then.
  ///
  /// The report is that of this verification. Where it is not the one that was given, or the answer is not accepted, the
  /// bundle proves nothing: `evidence.report_mismatch`.
  ///
  /// - Parameters:
  ///   - circuits: by what a zero-knowledge proof is verified; nil where none are at hand.
  ///   - protocols: those that the program has.
  package func verify(
    circuits: CircuitLibrary? = nil, by protocols: [any WalletProtocol] = BuiltProtocols.all(in: .live)
  ) async -> Verification {
    let now = Timestamp(secondsSince1970: report.verifiedAt)
    let policy = report.revocationPolicy.flatMap(RevocationPolicy.init) ?? .requireGood
    var verifier = MdocVerifier(trust: trust, clockSkew: clockSkew, revocation: policy)
    verifier.proofs = circuits.map { ProofPolicy(circuits: $0, acceptsEndOfDay: acceptsEndOfDay) }
    let authentication: Authentication
    if let wallet = protocols.first(where: { $0.name == protocolName }) {
      let secret = openingSecret.map { $0.bytes.withUnsafeBytes { SecretBytes(copying: $0) } }
      authentication = wallet.reopening(with: secret).authenticate(
        answer, answering: .kept(in: self), request: request, relyingParty: RelyingParty(id: relyingParty),
        verifier: verifier, at: now)
    } else {
      authentication = verifier.refuse([Check(.sessionProtocolMismatch, .failed, detail: protocolName)], at: now)
    }
    let evidence = await revocation.evidence(for: authentication.questions, at: now)
    let verdict = authentication.conclude(with: evidence)
    let report = ReportRecord(verdict.report, id: self.report.id.flatMap(ReportID.init))
    if case .accepted = verdict.outcome, report == self.report { return (verdict, report, nil) }
    let detail = program == ProgramVersion.text ? nil : "kept by version \(program); this is \(ProgramVersion.text)"
    return (verdict, report, EvidenceFault(.evidenceReportMismatch, detail))
  }
}

/// What became of a verified session's evidence, where the relying party's policy asks for it.
package enum EvidenceStatus: String, Sendable, Hashable, CaseIterable {
  case kept
  /// The answer disclosed an element that was not requested with `intent_to_retain: true`, or holds something that was
  /// not read. A bundle would keep that too, since nothing can be taken out of a signed answer.
  case declined
  /// With the lists that its revocation rests on, the bundle would be larger than the limits; or it nests deeper.
  case tooLarge = "too_large"
  /// Kept, and erased on the day of the value that may be kept the least.
  case erased
}
