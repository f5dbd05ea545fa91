import Base
import PKIX
import Trust

extension ShownFile {
  /// Shows a VICAL or a list of trusted entities. It is judged if signers were named.
  init(_ file: ListFile, signers: [Certificate], at now: Timestamp) {
    let content = UnverifiedList(file.bytes)
    let judgement = file.judge(.init(signers: signers), at: now)
    var isUnsigned = false
    if case .trustedEntities(_, isSigned: false) = content?.contents { isUnsigned = true }
    let isJudged = !isUnsigned && !signers.isEmpty
    kind = file.format.rawValue
    if content == nil {
      state = .refused
      caution = "the list can't be read"
    } else if isUnsigned {
      state = .unverified
      caution = "this is the bare payload of a list: nobody signed it, and anybody may have written it"
    } else if isJudged {
      state = judgement.isAccepted ? .accepted : .refused
      caution = judgement.isAccepted ? nil : "nothing of it counts; what follows is only what the file says"
    } else {
      state = .unverified
      caution = "no --signer-anchor is given, so anybody may have signed this; what follows is only what the file says"
    }
    // If the list has no signature, or no signer is named, only the findings about its content are shown: there is no
    // signature to verify, or nobody to verify it against.
    checks = isJudged || content == nil ? judgement.checks : Self.findings(content)
    let signer = content?.signerChain.first
    var rows: [(String, String)] = []
    var members: [(String, JSON)] = [("signer", signer?.summaryJSON ?? .null)]
    if let signer {
      rows += [("Signer", signer.subject.text), ("Signer's SHA-256", signer.fingerprint)]
      rows.append(("Signer valid", "\(signer.validity.lowerBound) to \(signer.validity.upperBound)"))
    }
    if isJudged, let anchor = judgement.signerPath.last, judgement.signerPath.count > 1 {
      rows.append(("Signer's anchor", "\(anchor.subject.text), \(anchor.fingerprint)"))
    }
    if isJudged, judgement.isSignedByItsAnchor {
      rows.append(("Signer's anchor", judgement.ownAnchor))
    }
    if isJudged { members.append(("signer_is_anchor", .bool(judgement.isSignedByItsAnchor))) }
    if let until = judgement.validUntil { rows.append(("Counts until", "\(until)")) }
    members.append(("valid_until", judgement.validUntil.map { .integer($0.secondsSince1970) } ?? .null))
    switch content?.contents {
    case .vical(let list, _):
      title = "VICAL of \(list.provider)"
      rows = Self.rows(of: list) + rows + Self.usable(list.entries.count, leftOut: list.leftOut)
      members.append(("entries_left_out", .integer(Int64(list.leftOut))))
      members = Self.members(of: list) + members
      entries = list.entries.map { Entry($0, at: now) }
    case .trustedEntities(let list, _):
      title = "List of trusted entities of " + list.scheme.operatorNames.joined(separator: " / ")
      rows = Self.rows(of: list.scheme) + rows + Self.usable(list.entities.count, leftOut: list.leftOut)
      members.append(("entries_left_out", .integer(Int64(list.leftOut))))
      members = Self.members(of: list.scheme) + members
      entries = list.entities.enumerated().map { Entry($1, number: $0 + 1, at: now) }
    case nil:
      title = file.format == .vical ? "VICAL" : "List of trusted entities"
      entries = []
    }
    self.rows = rows
    self.members = members
  }

  private static func usable(_ count: Int, leftOut: Int) -> [(String, String)] {
    leftOut == 0 ? [] : [("Entries", "\(count) can be used, \(leftOut) left out: the checks say why")]
  }

  private static func findings(_ list: UnverifiedList?) -> [Check] {
    switch list?.contents {
    case .vical(_, let findings): findings
    case .trustedEntities(let list, _): list.findings
    case nil: []
    }
  }

  private static func rows(of list: VICALContents) -> [(String, String)] {
    [
      ("Number", list.issueID.map(String.init) ?? "none"), ("Issued", "\(list.date)"),
      ("Next update", list.nextUpdate.map { "\($0)" } ?? "not said"),
    ] + (list.notAfter.map { [("Not after", "\($0)")] } ?? []) + (list.url.map { [("Published at", $0)] } ?? [])
  }

  private static func members(of list: VICALContents) -> [(String, JSON)] {
    [
      ("provider", .string(list.provider)), ("number", list.issueID.map { .string(String($0)) } ?? .null),
      ("issued_at", .integer(list.date.secondsSince1970)), ("next_update", time(list.nextUpdate)),
      ("not_after", time(list.notAfter)),
    ]
  }

  private static func rows(of scheme: TrustedEntityList.Scheme) -> [(String, String)] {
    [
      ("Type", scheme.type ?? "not said"), ("Territory", scheme.territory ?? "not said"),
      ("Number", "\(scheme.sequenceNumber)"), ("Issued", "\(scheme.issued)"),
      ("Next update", scheme.nextUpdate.map { "\($0)" } ?? "none: the list is closed"),
    ]
  }

  private static func members(of scheme: TrustedEntityList.Scheme) -> [(String, JSON)] {
    [
      ("provider", .string(scheme.operatorNames.joined(separator: " / "))),
      ("type", scheme.type.map { .string($0) } ?? .null),
      ("territory", scheme.territory.map { .string($0) } ?? .null),
      ("number", .string(String(scheme.sequenceNumber))), ("issued_at", time(scheme.issued)),
      ("next_update", time(scheme.nextUpdate)),
    ]
  }

  static func time(_ time: Timestamp?) -> JSON { time.map { .integer($0.secondsSince1970) } ?? .null }
}

extension ShownFile.Entry {
  init(_ entry: VICALContents.Entry, at now: Timestamp) {
    title = "\(entry.number). \(entry.certificate.subject.text)"
    rows =
      [("Document types", entry.docTypes.joined(separator: ", "))] + entry.certificate.summaryRows(at: now)
      + (entry.issuingAuthority.map { [("Issuing authority", $0)] } ?? [])
    json = [
      "number": .integer(Int64(entry.number)), "doc_types": .array(entry.docTypes.map { .string($0) }),
      "issuing_authority": entry.issuingAuthority.map { .string($0) } ?? .null,
      "certificate": entry.certificate.summaryJSON,
    ]
  }

  init(_ entity: TrustedEntityList.Entity, number: Int, at now: Timestamp) {
    title = "\(number). \(entity.names.joined(separator: " / "))"
    rows = entity.services.flatMap { service in
      let isGranted = service.isGranted(at: now) ? "" : "  NOT IN FORCE"
      return [("Service", (service.type ?? "of no type") + isGranted)]
        + service.certificates.flatMap { certificate in
          [("  Certificate", certificate.subject.text)]
            + certificate.summaryRows(at: now).map { ("  " + $0.0, $0.1) }
        }
    }
    json = [
      "number": .integer(Int64(number)), "names": .array(entity.names.map { .string($0) }),
      "services": .array(
        entity.services.map { service in
          [
            "type": service.type.map { .string($0) } ?? .null,
            "status": service.status.map { .string($0) } ?? .null,
            "granted": .bool(service.isGranted(at: now)),
            "certificates": .array(service.certificates.map(\.summaryJSON)),
          ]
        }),
    ]
  }
}

extension ShownFile {
  /// Shows a status list or identifier list. The documents that name it determine who may sign it, so it is never
  /// verified here, whatever anchors are named. A list that no verifier could read is refused.
  init(_ token: UnverifiedStatusToken, at now: Timestamp) {
    let name = token.mechanism == .statusList ? "status list" : "identifier list"
    kind = token.mechanism == .statusList ? "status_list" : "identifier_list"
    title = "\(name.prefix(1).uppercased() + name.dropFirst()) (\(token.form == .cwt ? "CBOR" : "JSON") Web Token)"
    state = token.fault == nil ? .unverified : .refused
    caution =
      token.fault == nil
      ? "it tells of documents that name it whether they are still good, and makes nobody trusted. Who may sign it "
        + "depends on the document; what follows is only what the file says"
      : "no verifier can read it, so documents that name it are undetermined; what follows is only what the file says"
    checks = token.fault.map { [Check($0.uncertainty.code, .failed, detail: $0.detail)] } ?? []
    let signer = token.signerChain.first
    var rows: [(String, String)] = []
    if let subject = token.subject { rows.append(("For the address", subject)) }
    if let issued = token.issuedAt { rows.append(("Issued", "\(issued)")) }
    if let expires = token.expires { rows.append(("Counts until", "\(expires)\(now < expires ? "" : "  EXPIRED")")) }
    if let seconds = token.timeToLive { rows.append(("To be kept for", "\(seconds) seconds")) }
    if let signer {
      rows += [("Signer", signer.subject.text), ("Signer's SHA-256", signer.fingerprint)]
    }
    var counts: [(String, JSON)] = []
    switch token.entries {
    case .statuses(let bits, let count):
      rows.append(("Statuses", "\(count), of \(bits) bit\(bits == 1 ? "" : "s") each"))
      counts = [("bits", .integer(Int64(bits))), ("statuses", .integer(Int64(count)))]
    case .identifiers(let count):
      rows.append(("Revoked", count == 1 ? "1 document" : "\(count) documents"))
      counts = [("identifiers", .integer(Int64(count)))]
    case nil: break
    }
    self.rows = rows
    members =
      [
        ("form", .string(token.form.rawValue)), ("subject", token.subject.map { .string($0) } ?? .null),
        ("issued_at", Self.time(token.issuedAt)), ("expires_at", Self.time(token.expires)),
        ("signer", signer?.summaryJSON ?? .null),
      ] + counts
    entries = []
  }
}
