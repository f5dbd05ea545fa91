import Base
import Cryptography
import Longfellow
import Mdoc
import Trust

/// All inputs of one verdict: the posted response and its challenge, the relevant trust anchors, and the signed lists
/// of publishers. With these inputs, the ordinary verifier can reproduce the report anywhere, without a network. The
/// bundle contains only the secret that opens this response, and no merchant's private key.
package struct EvidenceBundle: Sendable {
  package static let mediaType = "application/octet-stream"

  /// The mode of the server that created the bundle. A test or staging anchor is trusted only in a bundle of the same
  /// mode.
  package let mode: ServerMode
  package let session: SessionID
  package let relyingParty: String
  package let protocolName: String
  package let request: PresentationRequest
  /// The request as the wallet received it.
  let requestData: JSONText
  let material: SharedSecret
  let response: WalletResponse.Content
  /// The secret that opens the response (`VerificationRules.didOpen`); nil if the challenge is sufficient.
  let openingSecret: SharedSecret?
  let clockSkew: Int64
  let trust: TrustExcerpt
  let revocation: EvidenceRevocation
  package let report: ReportRecord
  /// `ProofPolicy.acceptsEndOfDay` of the server that created the bundle.
  var acceptsEndOfDay = false
  /// The version of the program that created the bundle.
  package var program = ProgramVersion.text
}

extension EvidenceBundle {
  package init(opening sealed: [UInt8], with keys: [EvidenceKey]) throws(EvidenceError) {
    let content = try EvidenceKey.open(sealed, with: keys)
    // A bundle that opens was sealed by a holder of the key. A holder therefore caused the error.
    guard let json = try? JSON(parsing: content, values: .max), let bundle = EvidenceBundle(json) else {
      throw EvidenceError(.evidenceMalformed, "the content is not a bundle")
    }
    self = bundle
  }
}

extension EvidenceBundle: CustomStringConvertible, CustomReflectable {
  package var description: String { "EvidenceBundle(\(session), redacted)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension EvidenceBundle {
  /// Until the bundle is sealed, its secrets are in ordinary memory, which is not wiped.
  var json: JSON {
    .members([
      "program": .string(program), "livemode": .bool(mode.isLive), "mode": .string(mode.rawValue),
      "session": .string(session.text), "relying_party": .string(relyingParty), "protocol": .string(protocolName),
      "request": request.storedJSON, "request_data": .written(requestData),
      "material": .string(Base64.encode(material.bytes.exposed())), "answer": Self.json(response),
      "opening_secret": openingSecret.map { .string(Base64.encode($0.bytes.exposed())) },
      "clock_skew": .integer(clockSkew), "zk_end_of_day": .bool(acceptsEndOfDay),
      "trust": trust.json, "revocation": revocation.json, "report": ReportRecord.writtenOut.write(report),
    ])
  }

  init?(_ json: JSON) {
    guard let program = json["program"]?.string, let mode = Self.mode(json),
      let session = json["session"]?.string.flatMap(SessionID.init), let party = json["relying_party"]?.string,
      let protocolName = json["protocol"]?.string,
      let request = json["request"].flatMap(PresentationRequest.init(storedJSON:)),
      let requestData = json["request_data"].map(JSONText.init),
      let material = json["material"]?.string.flatMap(Base64.decode),
      let response = json["answer"].flatMap(Self.response),
      let clockSkew = json["clock_skew"]?.integer, (0...Limits.longestClockSkew).contains(clockSkew),
      let trust = json["trust"].flatMap({
        TrustExcerpt($0, allowsTestCertificates: mode == .test, allowsTestTier: mode != .live)
      }),
      let revocation = json["revocation"].flatMap({ EvidenceRevocation($0, mode: mode) }),
      let report = json["report"].flatMap(ReportRecord.init(storedJSON:))
    else { return nil }
    self.init(
      mode: mode, session: session, relyingParty: party, protocolName: protocolName, request: request,
      requestData: requestData, material: SharedSecret(SecretBytes(copying: material)), response: response,
      openingSecret: json["opening_secret"]?.string.flatMap(Base64.decode).map {
        SharedSecret(SecretBytes(copying: $0))
      }, clockSkew: clockSkew, trust: trust,
      revocation: revocation, report: report, acceptsEndOfDay: json["zk_end_of_day"]?.bool ?? false, program: program)
  }

  /// Older bundles have `livemode` but no `mode`. Nil if `mode` and `livemode` contradict each other.
  private static func mode(_ json: JSON) -> ServerMode? {
    guard let isLive = json["livemode"]?.bool else { return nil }
    guard let name = json["mode"] else { return isLive ? .live : .test }
    return name.string.flatMap(ServerMode.init).flatMap { $0.isLive == isLive ? $0 : nil }
  }

  private static func json(_ response: WalletResponse.Content) -> JSON {
    switch response {
    case .bytes(let bytes): ["bytes": .string(Base64.encode(bytes))]
    case .parameters(let parameters): ["parameters": parameters]
    }
  }

  private static func response(_ json: JSON) -> WalletResponse.Content? {
    if let parameters = json["parameters"] { return .parameters(parameters) }
    return json["bytes"]?.string.flatMap(Base64.decode).map { .bytes($0) }
  }
}

extension EvidenceBundle {
  /// - `fault` is nil if the second verification accepts the response and gives the same report.
  package typealias Verification = (verdict: Verdict, report: ReportRecord, fault: EvidenceError?)

  /// Verifies the response again as a server does, with the bundle's time, anchors and lists. If the response is
  /// rejected or the report differs, the bundle proves nothing: `evidence.report_mismatch`.
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
        response, to: .kept(in: self),
        by: VerificationRules(
          request: request, relyingParty: RelyingParty(id: relyingParty), verifier: verifier, now: now))
    } else {
      authentication = verifier.refuse([Check(.sessionProtocolMismatch, .failed, detail: protocolName)], at: now)
    }
    let evidence = await revocation.evidence(for: authentication.questions, at: now)
    let verdict = authentication.conclude(with: evidence)
    let report = ReportRecord(verdict.report, id: self.report.id.flatMap(ReportID.init))
    if case .accepted = verdict.outcome, report == self.report { return (verdict, report, nil) }
    let detail = program == ProgramVersion.text ? nil : "made by version \(program); this is \(ProgramVersion.text)"
    return (verdict, report, EvidenceError(.evidenceReportMismatch, detail))
  }
}

/// The status of a verified session's evidence, if the relying party's policy asks for it.
package enum EvidenceStatus: String, Sendable, Hashable, CaseIterable {
  case kept
  /// An element must not be stored, or part of the response was not read. A signed response can be stored only as a
  /// whole.
  case declined
  /// The bundle, including revocation lists, exceeds the limit of size or depth.
  case tooLarge = "too_large"
  /// The bundle was erased when the shortest retention period of its values ended.
  case erased
}

/// The revocation status from publishers at the time of the verification. The lists are verified again as of that time.
/// An undetermined status is taken from the bundle, since no list proves it. Such a status can only make a verdict
/// worse.
struct EvidenceRevocation: RevocationSource {
  /// Undetermined statuses, by the index of the question in the response.
  private var unknown: [Int: Unknown] = [:]
  private var lists: [RevocationList] = []
  private let mode: ServerMode

  private struct Unknown: StoredValue, Sendable {
    let question: Int
    let reason: RevocationUncertainty
    let detail: String?

    static let stored = StoredShape<Unknown>(
      Unknown.init, .init("question", \.question), .init("reason", \.reason), .optional("detail", \.detail))
  }

  init(mode: ServerMode) { self.mode = mode }

  init(of questions: [RevocationQuestion], foundIn evidence: RevocationEvidence, mode: ServerMode) {
    self.mode = mode
    for (index, question) in questions.enumerated() {
      guard case .undetermined(let reason, let detail) = evidence.finding(for: question) else { continue }
      unknown[index] = Unknown(question: index, reason: reason, detail: detail)
    }
    for list in evidence.lists where !lists.contains(list) { lists.append(list) }
  }

  func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
    var kept = StaticListFetcher()
    for list in lists { kept[list.address] = .success(FetchedList(bytes: list.bytes)) }
    // The rules of the bundle's mode apply: test mode may fetch from more hosts.
    let checker = RevocationChecker(fetcher: kept, allowsLoopback: mode == .test)
    let open = questions.enumerated().filter { unknown[$0.offset] == nil }.map(\.element)
    let found = await checker.evidence(for: open, at: now)
    var evidence = RevocationEvidence()
    for (index, question) in questions.enumerated() {
      let stated = unknown[index].map { RevocationFinding.undetermined($0.reason, detail: $0.detail) }
      evidence.note(stated ?? found.finding(for: question), for: question)
    }
    return evidence
  }

  var json: JSON { Kept(lists: lists, unknown: unknown.values.sorted { $0.question < $1.question }).storedJSON }

  init?(_ json: JSON, mode: ServerMode) {
    guard let kept = Kept(storedJSON: json) else { return nil }
    self.mode = mode
    lists = kept.lists
    unknown = Dictionary(kept.unknown.map { ($0.question, $0) }) { $1 }
  }

  private struct Kept: StoredValue {
    let lists: [RevocationList]
    let unknown: [Unknown]

    static let stored = StoredShape<Kept>(Kept.init, .list("lists", \.lists), .list("unknown", \.unknown))
  }
}

extension RevocationList: StoredValue {
  package static let stored = StoredShape<RevocationList>(
    RevocationList.init, .init("address", \.address), .init("bytes", \.bytes))
}

extension RevocationUncertainty: StoredValue {
  package static let stored = StoredShape<Self>(write: { .string($0.rawValue) }, read: { $0.string.flatMap(Self.init) })
}

/// Finds a bundle in an exported audit log. The holder of an evidence key could seal an invented bundle, but cannot add
/// it to the log.
package struct EvidenceTrace: Sendable {
  private let session: String
  private let digest: String
  private var verification: AuditVerification
  private var isFound = false

  package init(of bundle: EvidenceBundle, sealed: [UInt8], noted heads: [AuditHead] = []) {
    session = bundle.session.text
    digest = Hex.encode(HashAlgorithm.sha256.hash(sealed))
    verification = AuditVerification(noted: heads)
  }

  package mutating func read(_ line: [UInt8], at position: AuditPosition) {
    verification.read(line, at: position)
    // Search the bytes before parsing a line. This is faster, because almost no line contains the digest.
    guard line.firstRange(of: Array(digest.utf8)) != nil, case .entry(let link) = AuditLine(parsing: line),
      let entry = try? JSON(parsing: link.entry)
    else { return }
    if entry["session"]?.string == session, entry["evidence"]?.string == digest { isFound = true }
  }

  package mutating func endFile(_ name: String) { verification.endFile(name) }

  /// The fault of the log; nil if the log is valid and has the bundle.
  package func fault() -> EvidenceError? {
    if let finding = verification.verdict().findings.first {
      return EvidenceError(.evidenceNotInAudit, "the audit log does not verify: \(finding.code.rawValue)")
    }
    return isFound ? nil : EvidenceError(.evidenceNotInAudit)
  }
}
