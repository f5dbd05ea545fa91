import Base
import PKIX
import Presentation
import Trust

/// `mdoc trust show`: shows the trust information in a file, and whether it may be believed.
enum TrustShow {
  static let command = Command(
    "show", "show what a VICAL, list of trusted entities, CRL, status list or certificate says",
    options: [.signerAnchor, .at, .json],
    operand: Operand(placeholder: "FILE", help: "its kind is told by its content"),
    notes: [
      "Without --signer-anchor a list is shown as it is written and called UNVERIFIED: anybody could have signed it. For "
        + "a CRL the anchor is the authority that issued it. Nothing becomes trusted here, and no list is remembered.",
      "Exit status: 0 shown (and accepted, where --signer-anchor is given), 1 refused, 64 usage, 65 the file is of no "
        + "such kind or cannot be read.",
    ],
    examples: [
      .init("AAMVA's list, under its root", "mdoc trust show vical.cbor --signer-anchor aamva-root.pem"),
      .init("What a list says, and who claims to have signed it", "mdoc trust show pid-providers.jwt --json"),
      .init("A revocation list at a time", "mdoc trust show iaca.crl --signer-anchor iaca.pem --at 2026-11-20"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let now = try arguments.time(.at)
    let path = arguments.operand ?? ""
    let bytes = try FileAccess.read(path, purpose: "file")
    let shown = try shown(bytes, path, signers: arguments.signerAnchors(), at: now)
    if arguments.has(.json) {
      console.print(shown.json)
    } else {
      console.print(ShownText(width: console.width, style: Style(isColored: console.isColored)).text(shown))
    }
    return shown.state == .refused ? .rejected : .done
  }

  private static func shown(
    _ bytes: [UInt8], _ path: String, signers: [Certificate], at now: Timestamp
  ) throws(Failure) -> ShownFile {
    if let list = try? UnverifiedCRL(parsing: bytes) {
      return ShownFile(list, bytes: bytes, authorities: signers, at: now)
    }
    if let found = try? FoundCertificate.inFile(path), found.contains(where: { $0.certificate != nil }) {
      return ShownFile(CertificateFindings.of(found, as: nil, at: now), at: now)
    }
    if let token = UnverifiedStatusToken(bytes) { return ShownFile(token, at: now) }
    if let list = ListFile(bytes) { return ShownFile(list, signers: signers, at: now) }
    throw .unreadable("file \(path): is no VICAL, list of trusted entities, CRL, status list or certificate")
  }
}

/// A shown file as text for people.
struct ShownText: Sendable {
  let width: Int
  let style: Style

  func text(_ shown: ShownFile) -> String {
    var head = [style(Printable.line(shown.title), .bold), "  " + headline(shown)]
    if !shown.rows.isEmpty { head.append(columns(shown.rows)) }
    let entries = shown.entries.map { entry in
      ([style(Printable.line(entry.title), .bold)] + (entry.rows.isEmpty ? [] : [columns(entry.rows)]))
        .joined(separator: "\n")
    }
    let count = shown.entries.count == 1 ? "1 entry" : "\(shown.entries.count) entries"
    let checks = ChecksText(width: width, style: style).block("Checks", shown.checks)
    return ([head.joined(separator: "\n")] + entries + [count, checks]).filter { !$0.isEmpty }
      .joined(separator: "\n\n")
  }

  private func headline(_ shown: ShownFile) -> String {
    let word =
      switch shown.state {
      case .accepted: style("ACCEPTED", .bold, .green)
      case .refused: style("REFUSED", .bold, .red)
      case .unverified: style("UNVERIFIED", .bold, .yellow)
      }
    return Wrapping.wrap(word + (shown.caution.map { "  \($0)" } ?? ""), indent: 4, width: width)
  }

  private func columns(_ rows: [(String, String)]) -> String {
    Wrapping.columns(rows.map { (Printable.line($0.0), Printable.line($0.1)) }, width: width)
  }
}

/// The contents of a file about trust, ready to be shown.
struct ShownFile: Sendable {
  enum State: String, Sendable {
    /// It is in force, and its signer chains to a named anchor.
    case accepted
    case refused
    /// No anchor was named that the signer could chain to, or the file is not signed.
    case unverified
  }

  struct Entry: Sendable {
    let title: String
    let rows: [(String, String)]
    let json: JSON
  }

  let kind: String
  let title: String
  let state: State
  /// Why the content does not count; nil if it is accepted.
  let caution: String?
  let rows: [(String, String)]
  let entries: [Entry]
  let checks: [Check]
  /// The members of the JSON that only this kind of file has.
  let members: [(String, JSON)]

  var json: JSON {
    var members: [JSON.Member] = [
      .init("kind", .string(kind)), .init("state", .string(state.rawValue)),
    ]
    members += self.members.map { .init($0.0, $0.1) }
    members.append(.init("entries", .array(entries.map(\.json))))
    members.append(.init("checks", .array(checks.map(\.json))))
    return .object(members)
  }
}

/// A certificate in one line of facts.
extension Certificate {
  var summaryJSON: JSON {
    [
      "subject": .string(subject.text), "sha256": .string(fingerprint),
      "subject_key_identifier": extensions.subjectKeyIdentifier.map { .string(Hex.encode($0)) } ?? .null,
      "not_before": .integer(validity.lowerBound.secondsSince1970),
      "expires_at": .integer(validity.upperBound.secondsSince1970), "mock": .bool(isMock),
    ]
  }

  func summaryRows(at now: Timestamp) -> [(String, String)] {
    let state = validity.contains(now) ? "" : now > validity.upperBound ? "  EXPIRED" : "  NOT YET VALID"
    return [
      ("SHA-256", fingerprint), ("Valid", "\(validity.lowerBound) to \(validity.upperBound)\(state)"),
    ] + (extensions.subjectKeyIdentifier.map { [("Key identifier", Hex.encode($0))] } ?? [])
  }
}

extension ShownFile {
  /// Shows a revocation list. It is accepted if one of the named authorities issued it.
  init(_ list: UnverifiedCRL, bytes: [UInt8], authorities: [Certificate], at now: Timestamp) {
    kind = "crl"
    title = "Revocation list of \(list.issuer.text)"
    let faults = authorities.map { authority -> CRLError? in
      do throws(CRLError) {
        _ = try VerifiedCRL(verifying: bytes, issuer: authority, at: now)
        return nil
      } catch { return error }
    }
    let issuer = zip(authorities, faults).first { $0.1 == nil }?.0
    if authorities.isEmpty {
      state = .unverified
      caution = "no --signer-anchor is given, so anybody may have signed this; what follows is only what the file says"
      checks = []
    } else if issuer != nil {
      state = .accepted
      caution = nil
      checks = [Check(.crlInvalid, .passed)]
    } else {
      state = .refused
      caution = "it says nothing about any certificate; what follows is only what the file says"
      // The fault under the list's own issuer tells more than that another authority is not its issuer.
      let fault = faults.compactMap { $0 }.first { $0 != .otherIssuer } ?? .otherIssuer
      checks = [Check(.crlInvalid, .failed, detail: fault.detail)]
    }
    rows = [
      ("Issued", "\(list.thisUpdate)"), ("Next update", list.nextUpdate.map { "\($0)" } ?? "not said"),
      ("Revoked", list.serialNumbers.count == 1 ? "1 certificate" : "\(list.serialNumbers.count) certificates"),
    ]
    members = [
      ("issuer", .string(list.issuer.text)), ("issued_at", Self.time(list.thisUpdate)),
      ("next_update", Self.time(list.nextUpdate)),
      ("verified_by", issuer.map { .string($0.fingerprint) } ?? .null),
    ]
    entries = list.serialNumbers.map { number in
      Entry(
        title: "Serial number \(Hex.encode(number))", rows: [], json: ["serial_number": .string(Hex.encode(number))])
    }
  }

  /// Shows certificates with the findings of their role's profile.
  init(_ findings: [CertificateFindings], at now: Timestamp) {
    kind = "certificates"
    title = findings.count == 1 ? "1 certificate" : "\(findings.count) certificates"
    state = .unverified
    caution = "a certificate vouches for nobody until somebody names it as an anchor"
    rows = []
    members = []
    checks = []
    entries = findings.map { finding in
      let certificate = finding.found.certificate
      // A relying party's certificate vouches for nobody, so the profiles of issuers do not apply to it.
      if let certificate, let merchant = MerchantCertificate.merchant(named: certificate) {
        return Entry(merchant: merchant, certificate, at: now)
      }
      let facts = certificate.map { $0.summaryRows(at: now) } ?? []
      let role = finding.role.map { [("Role", $0.rawValue + (finding.guessedBy.map { ", guessed: \($0)" } ?? ""))] }
      let notable = finding.checks.filter { $0.outcome == .failed || $0.outcome == .warning }.map { check in
        (check.outcome == .failed ? "FAILED" : "Warning", check.code.rawValue + (check.detail.map { ": \($0)" } ?? ""))
      }
      return Entry(
        title: certificate?.subject.text ?? "(unreadable)", rows: facts + (role ?? []) + notable,
        json: finding.json(strictly: false))
    }
  }
}

extension ShownFile.Entry {
  /// Apple's certificate of a merchant's key.
  fileprivate init(merchant: AppleMerchant, _ certificate: Certificate, at now: Timestamp) {
    title = certificate.subject.text
    let hash = certificate.publicKey.map { Hex.encode(AppleInApp.recipientKeyHash($0)) } ?? "none"
    rows =
      certificate.summaryRows(at: now) + [
        ("Role", "the encryption certificate of an Apple merchant: apps' answers are encrypted to its key"),
        ("Merchant (UID)", merchant.merchantID), ("Team (OU)", merchant.teamID), ("pkRHash", hash),
      ]
    json = .object(
      (certificate.summaryJSON.object ?? []) + [
        .init("role", "apple_merchant"), .init("merchant_id", .string(merchant.merchantID)),
        .init("team_id", .string(merchant.teamID)), .init("pk_r_hash", .string(hash)),
      ])
  }
}
