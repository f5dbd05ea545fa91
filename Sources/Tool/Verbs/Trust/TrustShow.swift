import Base
import PKIX
import Presentation
import Trust

enum TrustShow {
  static let command = Command(
    "show", "show the content of a VICAL, list of trusted entities, CRL, status list or certificate",
    options: [.signerAnchor, .at, .json],
    operand: Operand(placeholder: "FILE", help: "the file, of any of these kinds"),
    notes: [
      "Without --signer-anchor a list is UNVERIFIED: anyone could have signed it. For a CRL, name the authority that "
        + "issued it as the anchor. This changes no trust and remembers no list.",
      "Exit status: 0 shown (with --signer-anchor: shown and accepted), 1 refused, 64 usage, 65 the file is of another "
        + "kind or cannot be read.",
    ],
    examples: [
      .init("Verify AAMVA's list with its root", "mdoc trust show vical.cbor --signer-anchor aamva-root.pem"),
      .init("Show a list and its claimed signer", "mdoc trust show pid-providers.jwt --json"),
      .init("Verify a CRL at a given time", "mdoc trust show iaca.crl --signer-anchor iaca.pem --at 2026-11-20"),
    ], action: run)

  private static func run(_ arguments: Arguments) throws(Failure) -> ExitStatus {
    let now = try arguments.time(.at)
    let path = arguments.operand ?? ""
    let bytes = try FileAccess.read(path, purpose: "file")
    let shown = try shown(
      bytes, path, signers: FoundCertificate.certificates(in: arguments.values(.signerAnchor)), at: now)
    arguments.print(shown.report)
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
    throw .unreadable(
      "file \(path): must be a VICAL, a list of trusted entities, a CRL, a status list or a certificate")
  }
}

/// The content of a trust file, ready for display.
struct ShownFile: Sendable {
  enum State: String, Sendable {
    /// The content is in force, and its signer chains to a given anchor.
    case accepted
    case refused
    /// The file is not signed, or no anchor is given for its signer.
    case unverified

    var word: Span {
      switch self {
      case .accepted: .good("ACCEPTED")
      case .refused: .bad("REFUSED")
      case .unverified: .caution("UNVERIFIED")
      }
    }
  }

  let kind: String
  let title: String
  let state: State
  /// The reason why the content is not accepted; nil if it is accepted.
  let caution: String?
  /// The facts that are specific to this kind of file.
  let facts: [Report]
  let entries: [[Report]]
  let checks: [Check]

  var report: [Report] {
    [
      .member("kind", kind), .line(.bold(title)), .member("state", state.rawValue),
      .text([state.word, "\(caution.map { "  \($0)" } ?? "")"], lead: ["  "], hanging: 4),
    ] + facts + [
      .list("entries", entries), .note("\(entries.count == 1 ? "1 entry" : "\(entries.count) entries")"),
      .listed("Checks", checks),
    ]
  }

  static let noAnchor =
    "no --signer-anchor is given, so anyone may have signed this; its content is unverified"

  /// A row with a time. If the time is nil, the row shows `absent`. If both are nil, no row is shown.
  static func time(
    _ label: String, _ time: Timestamp?, as member: String, absent: String? = nil, note: String = ""
  ) -> Report {
    .row(label, time.map { "\($0)\(note)" } ?? absent, as: member, time)
  }
}

// MARK: Revocation lists

extension ShownFile {
  /// Shows a revocation list. It is accepted if one of the given authorities issued it.
  init(_ list: UnverifiedCRL, bytes: [UInt8], authorities: [Certificate], at now: Timestamp) {
    kind = "crl"
    title = "Revocation list of \(list.issuer.text)"
    let errors = authorities.map { authority -> CRLError? in
      do throws(CRLError) {
        _ = try VerifiedCRL(verifying: bytes, issuer: authority, at: now)
        return nil
      } catch { return error }
    }
    let issuer = zip(authorities, errors).first { $0.1 == nil }?.0
    if authorities.isEmpty {
      (state, caution, checks) = (.unverified, Self.noAnchor, [])
    } else if issuer != nil {
      (state, caution, checks) = (.accepted, nil, [Check(.crlInvalid, .passed)])
    } else {
      state = .refused
      caution = "it is no evidence about any certificate; its content is shown unverified"
      // The error for the list's own issuer is more specific than the error for another authority.
      let error = errors.compactMap { $0 }.first { $0 != .otherIssuer } ?? .otherIssuer
      checks = [Check(.crlInvalid, .failed, detail: error.detail)]
    }
    facts = [
      .member("issuer", list.issuer.text), Self.time("Issued", list.thisUpdate, as: "issued_at"),
      Self.time("Next update", list.nextUpdate, as: "next_update", absent: "not said"),
      .row("Revoked", counted(list.serialNumbers.count, "certificate")), .member("verified_by", issuer?.fingerprint),
    ]
    entries = list.serialNumbers.map(Hex.encode).map { number in
      [.line(.bold("Serial number \(number)")), .member("serial_number", number)]
    }
  }
}

// MARK: Certificates

extension ShownFile {
  /// Shows certificates with the findings of their role's profile.
  init(_ findings: [CertificateFindings], at now: Timestamp) {
    kind = "certificates"
    title = counted(findings.count, "certificate")
    state = .unverified
    caution = "a certificate is only trusted if it is named as an anchor"
    facts = []
    checks = []
    entries = findings.map { finding in
      let certificate = finding.found.certificate
      let rows = certificate?.rows(at: now).map { Report.row($0.0, $0.1) } ?? []
      // A relying party's certificate certifies no other certificate. The profiles of issuers do not apply to it.
      if let certificate, let merchant = MerchantCertificate.merchant(named: certificate) {
        return [.members(of: certificate.json), .line(.bold(finding.name))] + rows
          + Self.facts(of: merchant, certificate)
      }
      return [finding.members(strictly: false), .line(.bold(finding.name))] + rows + [
        .row("Role", finding.role.map { $0.rawValue + finding.guess })
      ]
        + finding.notable.map { check in
          .row(
            check.outcome == .failed ? "FAILED" : "Warning",
            check.code.rawValue + (check.detail.map { ": \($0)" } ?? ""))
        }
    }
  }

  /// The facts about Apple's certificate for a merchant's key.
  private static func facts(of merchant: AppleMerchant, _ certificate: Certificate) -> [Report] {
    let hash = certificate.publicKey.map { Hex.encode(AppleInApp.recipientKeyHash($0)) } ?? "none"
    return [
      .row(
        "Role", "the encryption certificate of an Apple merchant: apps' responses are encrypted to its key",
        as: "role", "apple_merchant"),
      .row("Merchant (UID)", merchant.merchantID, as: "merchant_id"),
      .row("Team (OU)", merchant.teamID, as: "team_id"), .row("pkRHash", hash, as: "pk_r_hash"),
    ]
  }
}

extension ShownFile {
  /// Shows a VICAL or a list of trusted entities. The list is verified if signers were given.
  init(_ file: ListFile, signers: [Certificate], at now: Timestamp) {
    let content = UnverifiedList(file.bytes)
    let judgement = file.judge(.init(signers: signers), at: now)
    var isUnsigned = false
    if case .trustedEntities(_, isSigned: false) = content?.contents { isUnsigned = true }
    let isJudged = !isUnsigned && !signers.isEmpty
    kind = file.format.rawValue
    if content == nil {
      (state, caution) = (.refused, "the list cannot be read")
    } else if isUnsigned {
      (state, caution) = (
        .unverified, "this is the unsigned payload of a list: anyone may have written it"
      )
    } else if !isJudged {
      (state, caution) = (.unverified, Self.noAnchor)
    } else if judgement.isAccepted {
      (state, caution) = (.accepted, nil)
    } else {
      (state, caution) = (.refused, "it gives no anchor; its content is shown unverified")
    }
    // Without a signature or a given signer, nothing can be verified. Only the findings about the content are shown.
    let list: [Report]
    let findings: [Check]
    switch content?.contents {
    case .vical(let vical, let found):
      title = "VICAL of \(vical.provider)"
      (list, findings) = (Self.facts(of: vical), found)
      entries = vical.entries.map { Self.entry($0, at: now) }
    case .trustedEntities(let entities, _):
      title = "List of trusted entities of " + entities.scheme.operatorNames.joined(separator: " / ")
      (list, findings) = (Self.facts(of: entities.scheme), entities.findings)
      entries = entities.entities.enumerated().map { Self.entry($1, number: $0 + 1, at: now) }
    case nil:
      title = file.format == .vical ? "VICAL" : "List of trusted entities"
      (list, findings, entries) = ([], [], [])
    }
    checks = isJudged || content == nil ? judgement.checks : findings
    let signer = content?.signerChain.first
    var facts = list + Self.facts(ofSigner: signer) + [.row("Signer valid", signer?.validityText())]
    if isJudged {
      if let anchor = judgement.signerPath.last, judgement.signerPath.count > 1 {
        facts.append(.row("Signer's anchor", "\(anchor.subject.text), \(anchor.fingerprint)"))
      }
      facts += [
        .row("Signer's anchor", judgement.isSignedByItsAnchor ? judgement.ownAnchor : nil),
        .member("signer_is_anchor", judgement.isSignedByItsAnchor),
      ]
    }
    facts.append(Self.time("Expires", judgement.validUntil, as: "valid_until"))
    if let leftOut = content?.leftOut {
      let note = "\(entries.count) usable, \(leftOut) left out; the checks show the reasons"
      facts.append(.row("Entries", leftOut == 0 ? nil : note, as: "entries_left_out", leftOut))
    }
    self.facts = facts
  }

  private static func facts(ofSigner signer: Certificate?) -> [Report] {
    [.member("signer", signer), .row("Signer", signer?.subject.text), .row("Signer's SHA-256", signer?.fingerprint)]
  }

  private static func facts(of list: VICALContents) -> [Report] {
    let number = list.issueID.map(String.init)
    return [
      .member("provider", list.provider), .row("Number", number ?? "none", as: "number", number),
      time("Issued", list.date, as: "issued_at"),
      time("Next update", list.nextUpdate, as: "next_update", absent: "not said"),
      time("Not after", list.notAfter, as: "not_after"), .row("Published at", list.url),
    ]
  }

  private static func facts(of scheme: TrustedEntityList.Scheme) -> [Report] {
    [
      .member("provider", scheme.operatorNames.joined(separator: " / ")),
      .row("Type", scheme.type ?? "not said", as: "type", scheme.type),
      .row("Territory", scheme.territory ?? "not said", as: "territory", scheme.territory),
      .row("Number", "\(scheme.sequenceNumber)", as: "number"), time("Issued", scheme.issued, as: "issued_at"),
      time("Next update", scheme.nextUpdate, as: "next_update", absent: "none: the list is closed"),
    ]
  }

  private static func entry(_ entry: VICALContents.Entry, at now: Timestamp) -> [Report] {
    let certificate = entry.certificate
    return [
      .line(.bold("\(entry.number). \(certificate.subject.text)")), .member("number", entry.number),
      .row("Document types", entry.docTypes.joined(separator: ", "), as: "doc_types", entry.docTypes),
    ] + certificate.rows(at: now).map { .row($0.0, $0.1) } + [
      .row("Issuing authority", entry.issuingAuthority, as: "issuing_authority"), .member("certificate", certificate),
    ]
  }

  private static func entry(_ entity: TrustedEntityList.Entity, number: Int, at now: Timestamp) -> [Report] {
    let services = entity.services.map { service in
      JSON.of([
        "type": service.type, "status": service.status, "granted": service.isGranted(at: now),
        "certificates": service.certificates,
      ])
    }
    let rows = entity.services.flatMap { service in
      [("Service", (service.type ?? "of no type") + (service.isGranted(at: now) ? "" : "  NOT IN FORCE"))]
        + service.certificates.flatMap { certificate in
          [("  Certificate", certificate.subject.text)] + certificate.rows(at: now).map { ("  " + $0.0, $0.1) }
        }
    }
    return [
      .line(.bold("\(number). \(entity.names.joined(separator: " / "))")),
      .members(["number": number, "names": entity.names, "services": services]),
    ] + rows.map { .row($0.0, $0.1) }
  }
}

extension UnverifiedList {
  /// The number of unusable entries.
  fileprivate var leftOut: Int {
    switch contents {
    case .vical(let list, _): list.leftOut
    case .trustedEntities(let list, _): list.leftOut
    }
  }
}

extension ShownFile {
  /// Shows a status list or identifier list. Only the documents that reference the list determine who may sign it. The
  /// list is therefore never verified here, even if anchors are given. Rejects a list that no verifier can read.
  init(_ token: UnverifiedStatusToken, at now: Timestamp) {
    let isStatusList = token.mechanism == .statusList
    kind = isStatusList ? "status_list" : "identifier_list"
    title = (isStatusList ? "Status list" : "Identifier list") + " (\(token.form == .cwt ? "CBOR" : "JSON") Web Token)"
    state = token.fault == nil ? .unverified : .refused
    caution =
      token.fault == nil
      ? "it gives the status of documents that name it; it contains no anchor. Its permitted signer depends on the "
        + "document, so it is unverified here"
      : "no verifier can read it, so documents that name it are undetermined; its content is shown unverified"
    checks = token.fault.map { [Check($0.uncertainty.code, .failed, detail: $0.detail)] } ?? []
    let isExpired = token.claims.map { $0.expires <= now } ?? false
    let counts: [Report] =
      switch token.entries {
      case .statuses(let bits, let count):
        [.row("Statuses", "\(count), of \(counted(bits, "bit")) each"), .members(["bits": bits, "statuses": count])]
      case .identifiers(let count): [.row("Revoked", counted(count, "document"), as: "identifiers", count)]
      case nil: []
      }
    facts =
      [
        .member("form", token.form.rawValue), .row("For the address", token.claims?.subject, as: "subject"),
        Self.time("Issued", token.claims?.issuedAt, as: "issued_at"),
        Self.time("Expires", token.claims?.expires, as: "expires_at", note: isExpired ? "  EXPIRED" : ""),
        .row("Kept for", token.claims?.timeToLive.map { "\($0) seconds" }),
      ] + Self.facts(ofSigner: token.signerChain.first) + counts
    entries = []
  }
}
