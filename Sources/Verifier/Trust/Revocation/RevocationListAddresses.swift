import Base
import Mdoc
import PKIX

/// The addresses from which authorities' revocation lists may be fetched, with exceptions for individual authorities.
public struct AuthorityCRLAddresses: Sendable, Hashable {
  public var standard: CRLAddresses
  /// The exceptions, by the SHA-256 of the authority's certificate in hexadecimal.
  public var exceptions: [String: CRLAddresses]

  public init(_ standard: CRLAddresses, exceptions: [String: CRLAddresses] = [:]) {
    self.standard = standard
    self.exceptions = exceptions
  }

  func rule(for authority: Certificate) -> CRLAddresses { exceptions[authority.fingerprint] ?? standard }
}

extension FetchRules {
  /// The rules for a revocation list whose address is in a certificate of a validated path.
  static func revocationLists(_ addresses: CRLAddresses, allowingPlainHTTP: Bool) -> FetchRules {
    FetchRules(allowsPlainHTTP: addresses == .named || allowingPlainHTTP, allowsOtherPorts: addresses == .named)
  }
}

/// A revocation list of an authority's own certificate that will not be fetched.
public struct UnusableCRL: Sendable, Hashable {
  /// The address in the certificate; nil if its distribution points have no address.
  public let address: String?
  public let reason: String
}

extension TrustAnchor {
  /// The revocation lists of the anchor's certificate that will not be fetched; empty if any of the addresses may be
  /// fetched.
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

/// One certificate of a path, its issuer, and the source of the issuer's revocation list.
struct CRLLink {
  let certificate: Certificate
  let issuer: Certificate
  let isSigner: Bool
  let source: CRLSource?

  /// The path's links whose certificates contain a list's address. The anchor's own list gives the anchor's status.
  static func links(of question: RevocationQuestion) -> [CRLLink] {
    zip(question.path, question.path.dropFirst()).enumerated().compactMap { index, pair in
      guard let points = pair.0.extensions.crlDistributionPoints else { return nil }
      return CRLLink(
        certificate: pair.0, issuer: pair.1, isSigner: index == 0,
        source: points.isUsable ? CRLSource(addresses: points.uris, issuer: pair.1) : nil)
    }
  }

  /// The reason why no distribution point can be used.
  var unusable: String { certificate.extensions.crlDistributionPoints?.detail ?? "no distribution point" }

  func finding(by list: VerifiedCRL) -> RevocationFinding {
    if list.contains(serial: certificate.serialNumber) {
      return .revoked(
        isSigner ? .signerRevoked : .authorityRevoked,
        detail:
          "the list of \(issuer.label) has \(certificate.label), serial number \(Hex.encode(certificate.serialNumber))")
    }
    // If an authority lists itself as revoked, everything under it is revoked.
    if list.contains(serial: issuer.serialNumber), issuer.isSelfSigned {
      return .revoked(.authorityRevoked, detail: "the anchor lists itself")
    }
    return .good
  }
}

/// The addresses of a revocation list, and the issuer that must have signed it.
struct CRLSource: Hashable, Sendable {
  let addresses: [String]
  let issuer: Certificate

  static func == (left: Self, right: Self) -> Bool {
    left.issuer.sha256 == right.issuer.sha256
      && left.addresses.elementsEqual(right.addresses) { $0.utf8.elementsEqual($1.utf8) }
  }

  /// Hashing the issuer suffices: few issuers have more than one list.
  func hash(into hasher: inout Hasher) { hasher.combine(issuer.sha256) }
}
