import Base
import Cryptography
import Mdoc
import Trust

/// The verdict on a bundle, as `mdoc verify bundle --json` prints it: the origin, then the members of a verdict.
package enum EvidenceRendering {
  package static func json(_ fault: EvidenceError) -> JSON {
    .object(verdict(failed: [Reason(fault.code)], report: .null))
  }

  package enum Audit: Sendable {
    case notConsulted
    case without
    /// The log contains the bundle. No head was noted earlier, so a later change of the log cannot be detected.
    case withoutHeads
    case withHeads
  }

  package static func json(
    _ bundle: EvidenceBundle, _ found: EvidenceBundle.Verification, audit: Audit = .notConsulted
  ) -> (json: JSON, fault: EvidenceError?) {
    let origin: [JSON.Member] = [
      .init("session", .string(bundle.session.text)), .init("relying_party", .string(bundle.relyingParty)),
      .init("protocol", .string(bundle.protocolName)), .init("livemode", .bool(bundle.mode.isLive)),
      .init("mode", .string(bundle.mode.rawValue)), .init("program", .string(bundle.program)),
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
      .init("last_error", LastError.shape.write(LastError(reasons))), .init("result", .null), .init("report", report),
    ]
  }
}

/// Seals and opens the evidence of one relying party: AES-256-GCM with a random 96-bit nonce.
///
///     "mdoc-evidence" ‖ version (1) ‖ key id (8) ‖ nonce (12) ‖ ciphertext ‖ tag (16)
///
/// A bundle contains personal data and the session's keys. It is therefore encrypted at rest and leaves the server only
/// in this form. The key opens nothing else in the store. A bundle that opens was made by a holder of the key and is
/// unchanged. Only the response's own signatures prove that the response is genuine. The server never opens a bundle.
package final class EvidenceKey: Sendable, Hashable {
  package static let length = 32
  static let version: UInt8 = 1
  private static let mark = Array("mdoc-evidence".utf8)
  private static let idLength = 8

  /// The key's name in bundles; it reveals nothing about the key.
  private let id: [UInt8]
  private let key: SecretBytes

  package init(_ key: consuming SecretBytes) throws(ConfigurationError) {
    guard key.count == Self.length else { throw ConfigurationError("an evidence key must have 32 bytes") }
    id = Self.id(of: key)
    self.key = key
  }

  private static func id(of key: borrowing SecretBytes) -> [UInt8] {
    Array(HMAC.authenticate(Array("mdoc evidence key".utf8), key: key, hash: .sha256).prefix(idLength))
  }

  /// True if this key is the store's sealing key, whose holders can also open the store.
  package func isSame(as sealingKey: SealingKey) -> Bool { id == Self.id(of: sealingKey.key) }

  package static func == (left: EvidenceKey, right: EvidenceKey) -> Bool { left.id == right.id }
  package func hash(into hasher: inout Hasher) { hasher.combine(id) }

  func seal(_ plaintext: [UInt8]) throws(CryptoError) -> [UInt8] {
    let header = Self.mark + [Self.version] + id
    let nonce = try Random.bytes(AESGCM.nonceLength)
    return header + nonce + (try AESGCM.seal(plaintext, key: key, nonce: nonce, additionalData: header))
  }

  static func open(_ sealed: [UInt8], with keys: [EvidenceKey]) throws(EvidenceError) -> [UInt8] {
    guard sealed.count <= Limits.evidenceBytes else {
      throw EvidenceError(.evidenceTooLarge, "more than \(Limits.evidenceBytes) bytes")
    }
    guard sealed.starts(with: mark), sealed.count > mark.count else { throw EvidenceError(.evidenceMalformed) }
    guard sealed[mark.count] == version else {
      throw EvidenceError(.evidenceVersionUnsupported, "version \(sealed[mark.count]); this program reads \(version)")
    }
    let nonceStart = mark.count + 1 + idLength
    let start = nonceStart + AESGCM.nonceLength
    guard sealed.count >= start + AESGCM.tagLength else { throw EvidenceError(.evidenceMalformed, "it is truncated") }
    guard let key = keys.first(where: { $0.id.elementsEqual(sealed[(mark.count + 1)..<nonceStart]) }) else {
      throw EvidenceError(.evidenceKeyMismatch)
    }
    do {
      return try AESGCM.open(
        Array(sealed[start...]), key: key.key, nonce: Array(sealed[nonceStart..<start]),
        additionalData: Array(sealed[..<nonceStart]))
    } catch { throw EvidenceError(.evidenceSealBroken) }
  }
}

package struct EvidenceError: Error, Sendable, Hashable {
  package let code: Code
  package let detail: String?

  init(_ code: Code, _ detail: String? = nil) {
    self.code = code
    self.detail = detail
  }
}
