import Base
import PKIX
import Trust

extension ShownFile {
  /// A status list or identifier list. Who may sign it is said by the documents that name it, so it is never verified
  /// here, whatever anchors are named.
  init(_ token: UnverifiedStatusToken, at now: Timestamp) {
    let name = token.mechanism == .statusList ? "status list" : "identifier list"
    kind = token.mechanism == .statusList ? "status_list" : "identifier_list"
    title = "\(name.prefix(1).uppercased() + name.dropFirst()) (\(token.form == .cwt ? "CBOR" : "JSON") Web Token)"
    state = .unverified
    caution =
      "it tells of documents that name it whether they are still good, and makes nobody trusted. Who may sign it depends "
      + "on the document; what follows is only what the file says"
    checks = []
    let signer = token.signerChain.first
    var rows: [(String, String)] = []
    if let fault = token.fault { rows.append(("Claims", "can't be read: \(fault)")) }
    if let subject = token.subject { rows.append(("For the address", subject)) }
    if let issued = token.issuedAt { rows.append(("Issued", "\(issued)")) }
    if let expires = token.expires { rows.append(("Counts until", "\(expires)\(now < expires ? "" : "  EXPIRED")")) }
    if let seconds = token.timeToLive { rows.append(("To be kept for", "\(seconds) seconds")) }
    if let signer {
      rows += [("Signer", signer.subject.text), ("Signer's SHA-256", signer.fingerprint)]
    }
    self.rows = rows
    members = [
      ("form", .string(token.form.rawValue)), ("subject", token.subject.map { .string($0) } ?? .null),
      ("issued_at", Self.time(token.issuedAt)), ("expires_at", Self.time(token.expires)),
      ("signer", signer?.summaryJSON ?? .null),
    ]
    entries = []
  }
}
