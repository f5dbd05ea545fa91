import Base
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
