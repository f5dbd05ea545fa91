import Base
import Mdoc
import PKIX

/// Where the revocation lists of a source's authorities may be asked for: one rule, and others for single authorities.
public struct AuthorityCRLAddresses: Sendable, Hashable {
  public var standard: CRLAddresses
  /// By the SHA-256 of the authority's certificate, in hexadecimal.
  public var exceptions: [String: CRLAddresses]

  public init(_ standard: CRLAddresses, exceptions: [String: CRLAddresses] = [:]) {
    self.standard = standard
    self.exceptions = exceptions
  }

  func rule(for authority: Certificate) -> CRLAddresses { exceptions[authority.fingerprint] ?? standard }
}

extension FetchRules {
  /// Those of a list whose address stands in a certificate of a validated path.
  static func revocationLists(_ addresses: CRLAddresses, allowingPlainHTTP: Bool) -> FetchRules {
    FetchRules(allowsPlainHTTP: addresses == .named || allowingPlainHTTP, allowsOtherPorts: addresses == .named)
  }
}

/// A revocation list that an authority's own certificate names and that will not be asked for: known before the first
/// document comes.
public struct UnusableCRL: Sendable, Hashable {
  /// As the certificate has it; nil where its distribution points have no address.
  public let address: String?
  /// For people.
  public let reason: String
}

extension TrustAnchor {
  /// Judged without asking anybody: names are not looked up. Its signers may name other addresses than its own
  /// certificate. Empty where one address can be asked, which suffices, and where it names none.
  public var unusableCRLs: [UnusableCRL] {
    guard let points = certificate.extensions.crlDistributionPoints else { return [] }
    guard points.isUsable else { return [UnusableCRL(address: nil, reason: points.detail)] }
    let rules = FetchRules.revocationLists(crlAddresses, allowingPlainHTTP: allowsPlainHTTP)
    let addresses = points.uris.prefix(Limits.crlAddresses)
    let refused = addresses.compactMap { address in
      do throws(FetchError) {
        _ = try ListAddress(address, allowing: rules)
        return nil as UnusableCRL?
      } catch {
        guard case .notAllowed(let reason) = error else { return nil }
        return UnusableCRL(address: address, reason: reason)
      }
    }
    return refused.count == addresses.count ? refused : []
  }
}

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
