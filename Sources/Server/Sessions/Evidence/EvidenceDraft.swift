import Base
import Cryptography
import Mdoc
import Trust

/// What evidence needs of an attempt, gathered while its answer is verified; sealed only if it is accepted.
struct EvidenceDraft: Sendable {
  private let key: EvidenceKey
  private let trust: TrustStore
  private let wallet: any WalletProtocol
  private let answer: WalletAnswer.Content
  private let requestData: JSONText
  private let material: SharedSecret
  var revocation: EvidenceRevocation

  /// Nil where the relying party's policy asks for none.
  ///
  /// - Parameter trust: the store that the answer is verified with.
  init?(
    of answer: WalletAnswer.Content, by wallet: any WalletProtocol, answering challenge: borrowing ConsumedChallenge,
    for relyingParty: RelyingParty, trust: TrustStore, mode: ServerMode
  ) {
    guard let key = relyingParty.policies.evidenceKey else { return nil }
    self.key = key
    self.trust = trust
    self.wallet = wallet
    self.answer = answer
    requestData = challenge.requestData
    material = SharedSecret(copying: challenge.material)
    revocation = EvidenceRevocation(mode: mode)
  }

  /// The sealed bundle, or why there is none.
  func evidence(
    of presentation: AcceptedPresentation, _ report: ReportRecord, session: SessionID, request: PresentationRequest,
    relyingParty: RelyingParty, context: ServiceContext
  ) throws(ServiceError) -> (status: EvidenceStatus, bundle: [UInt8]?) {
    guard presentation.retention.isIntended else { return (.declined, nil) }
    let anchors = Set(presentation.documents.map(\.issuer.anchorSHA256))
    var openingSecret: SharedSecret?
    if let secret = wallet.openingSecret(of: answer, relyingParty: relyingParty) {
      openingSecret = SharedSecret(secret)
    }
    let sealed: [UInt8]
    do {
      let bundle = EvidenceBundle(
        mode: context.mode, session: session, relyingParty: relyingParty.id, protocolName: wallet.name,
        request: request, requestData: requestData, material: material,
        answer: answer, openingSecret: openingSecret,
        clockSkew: context.clockSkew, trust: try TrustExcerpt(of: trust, anchors: anchors), revocation: revocation,
        report: report, acceptsEndOfDay: context.proofs?.acceptsEndOfDay ?? false)
      let content = bundle.json.serialized()
      // A bundle that could not be read again would be found out when it is too late.
      guard let json = try? JSON(parsing: content, values: .max), EvidenceBundle(json) != nil else {
        return (.tooLarge, nil)
      }
      sealed = try key.seal(content)
    } catch {
      throw ServiceError(.apiInternal, "The evidence could not be sealed.")
    }
    return sealed.count > Limits.evidenceBytes ? (.tooLarge, nil) : (.kept, sealed)
  }
}

/// What judging a bundle came to, as `mdoc verify bundle --json` prints it: the members of a verdict, after whose
/// evidence it is.
package enum EvidenceRendering {
  /// Of a bundle that could not be opened.
  package static func json(_ fault: EvidenceFault) -> JSON {
    .object(verdict(failed: [Reason(fault.code)], report: .null))
  }

  /// What an audit log said of a bundle.
  package enum Audit: Sendable {
    case notConsulted
    /// It does not verify, or does not have the bundle.
    case without
    /// It has the bundle, but no head that was noted earlier shows that the log is unchanged since.
    case alone
    /// It has the bundle, and agrees with the noted heads.
    case withHeads
  }

  package static func json(
    _ bundle: EvidenceBundle, _ found: EvidenceBundle.Verification, audit: Audit = .notConsulted
  ) -> (json: JSON, fault: EvidenceFault?) {
    let origin: [JSON.Member] = [
      .init("session", .string(bundle.session.text)), .init("relying_party", .string(bundle.relyingParty)),
      .init("protocol", .string(bundle.protocolName)), .init("livemode", .bool(bundle.mode.isLive)),
      .init("mode", .string(bundle.mode.rawValue)),
      .init("program", .string(bundle.program)),
      .init("in_audit", audit == .notConsulted ? .null : .bool(audit != .without)),
      .init("audit_heads", audit == .notConsulted ? .null : .bool(audit == .withHeads)),
    ]
    guard let fault = found.fault else {
      let verdict = VerdictRendering.json(found.verdict, id: found.report.id.flatMap(ReportID.init))
      return (.object(origin + (verdict.object ?? [])), nil)
    }
    var reasons = [Reason(fault.code)]
    if case .refused(let others) = found.verdict.outcome { reasons += others }
    return (.object(origin + verdict(failed: reasons, report: ReportRendering.json(found.report))), fault)
  }

  private static func verdict(failed reasons: [Reason], report: JSON) -> [JSON.Member] {
    [
      .init("status", .string(SessionStatus.failed.rawValue)),
      .init("last_error", VerdictRendering.lastError(LastError(reasons))), .init("result", .null),
      .init("report", report),
    ]
  }
}

/// The key that seals the evidence of one relying party, and opens it again where it is judged: AES-256-GCM with a
/// random 96-bit nonce.
///
///     "mdoc-evidence" ‖ version (1) ‖ key id (8) ‖ nonce (12) ‖ ciphertext ‖ tag (16)
///
/// A bundle holds personal data and the keys of the answered session, so it is sealed for as long as it lies anywhere,
/// and what leaves the server is what the store has. The key is not the store's: whoever has to judge a bundle gets this
/// key, which opens nothing else. A bundle that opens was made by somebody with the key and is unchanged. It does not
/// prove that the answer is genuine: the answer's own signatures do, each time. The server never needs to open one.
package final class EvidenceKey: Sendable, Hashable {
  package static let length = 32
  static let version: UInt8 = 1
  private static let mark = Array("mdoc-evidence".utf8)
  private static let idLength = 8

  /// What a bundle names it by; it says nothing of the key.
  private let id: [UInt8]
  private let key: SecretBytes

  package init(_ key: consuming SecretBytes) throws(ConfigurationError) {
    guard key.count == Self.length else { throw ConfigurationError("an evidence key has not 32 bytes") }
    id = Self.id(of: key)
    self.key = key
  }

  private static func id(of key: borrowing SecretBytes) -> [UInt8] {
    Array(HMAC.authenticate(Array("mdoc evidence key".utf8), key: key, hash: .sha256).prefix(idLength))
  }

  /// Whether whoever opens bundles could open the store as well.
  package func isSame(as sealingKey: SealingKey) -> Bool { id == Self.id(of: sealingKey.key) }

  package static func == (left: EvidenceKey, right: EvidenceKey) -> Bool { left.id == right.id }
  package func hash(into hasher: inout Hasher) { hasher.combine(id) }

  func seal(_ plaintext: [UInt8]) throws(CryptoError) -> [UInt8] {
    let header = Self.mark + [Self.version] + id
    let nonce = try Random.bytes(AESGCM.nonceLength)
    return header + nonce + (try AESGCM.seal(plaintext, key: key, nonce: nonce, additionalData: header))
  }

  /// The content of a bundle that one of the keys sealed.
  static func open(_ sealed: [UInt8], with keys: [EvidenceKey]) throws(EvidenceFault) -> [UInt8] {
    guard sealed.count <= Limits.evidenceBytes else {
      throw EvidenceFault(.evidenceTooLarge, "more than \(Limits.evidenceBytes) bytes")
    }
    guard sealed.starts(with: mark), sealed.count > mark.count else { throw EvidenceFault(.evidenceMalformed) }
    guard sealed[mark.count] == version else {
      throw EvidenceFault(.evidenceVersionUnsupported, "version \(sealed[mark.count]); this program reads \(version)")
    }
    let nonceStart = mark.count + 1 + idLength
    let start = nonceStart + AESGCM.nonceLength
    guard sealed.count >= start + AESGCM.tagLength else { throw EvidenceFault(.evidenceMalformed, "it is cut short") }
    guard let key = keys.first(where: { $0.id.elementsEqual(sealed[(mark.count + 1)..<nonceStart]) }) else {
      throw EvidenceFault(.evidenceKeyMismatch)
    }
    do {
      return try AESGCM.open(
        Array(sealed[start...]), key: key.key, nonce: Array(sealed[nonceStart..<start]),
        additionalData: Array(sealed[..<nonceStart]))
    } catch {
      throw EvidenceFault(.evidenceSealBroken)
    }
  }
}

/// Why a bundle cannot be judged, or what it comes to.
package struct EvidenceFault: Error, Sendable, Hashable {
  package let code: Code
  package let detail: String?

  init(_ code: Code, _ detail: String? = nil) {
    self.code = code
    self.detail = detail
  }
}
