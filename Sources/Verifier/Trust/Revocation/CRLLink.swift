import Mdoc
import PKIX

/// One certificate of a path with its issuer, and where the issuer's revocation list is.
struct CRLLink {
  let certificate: Certificate
  let issuer: Certificate
  let isSigner: Bool
  /// Nil where no distribution point can be used.
  let source: CRLSource?

  /// Every certificate of the path that names a list; the anchor's own status is told by the list that it signs.
  static func links(of question: RevocationQuestion) -> [CRLLink] {
    zip(question.path, question.path.dropFirst()).enumerated().compactMap { index, pair in
      guard let points = pair.0.extensions.crlDistributionPoints else { return nil }
      return CRLLink(
        certificate: pair.0, issuer: pair.1, isSigner: index == 0,
        source: points.isUsable ? CRLSource(addresses: points.uris, issuer: pair.1) : nil)
    }
  }

  /// Why no distribution point can be used.
  var unusable: String { certificate.extensions.crlDistributionPoints?.detail ?? "no distribution point" }

  func finding(by list: VerifiedCRL) -> RevocationFinding {
    if list.contains(serial: certificate.serialNumber) {
      return .revoked(isSigner ? .signerRevoked : .authorityRevoked)
    }
    // An authority that lists itself has said that nothing under it counts any more.
    if list.contains(serial: issuer.serialNumber), issuer.isSelfSigned {
      return .revoked(.authorityRevoked, detail: "the anchor lists itself")
    }
    return .good
  }
}

/// Where a revocation list is, and whose it must be.
struct CRLSource: Hashable, Sendable {
  let addresses: [String]
  let issuer: Certificate

  static func == (left: Self, right: Self) -> Bool {
    left.issuer.sha256 == right.issuer.sha256
      && left.addresses.elementsEqual(right.addresses) { $0.utf8.elementsEqual($1.utf8) }
  }

  /// Few issuers have more than one list.
  func hash(into hasher: inout Hasher) { hasher.combine(issuer.sha256) }
}
