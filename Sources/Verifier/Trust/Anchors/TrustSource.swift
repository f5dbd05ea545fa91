import Base
import PKIX

/// A named place that trust anchors come from.
public struct TrustSource: Sendable {
  /// For people, and the name under which the last list is stored: letters, digits, `-`, `_` and `.`.
  public let name: String
  public let kind: Kind

  public enum Kind: Sendable {
    /// Certificates in PEM or DER, and folders of them, each with its settings beside it. `crlAddresses` is the rule
    /// for authorities whose settings don't mention it.
    case files([String], crlAddresses: CRLAddresses = .named)
    case list(PublishedTrustList)
  }

  public init(name: String, _ kind: Kind) {
    self.name = name
    self.kind = kind
  }
}

/// A list of anchors that somebody publishes and signs.
public struct PublishedTrustList: Sendable {
  public let place: Place
  public let format: Format

  public enum Place: Sendable, Hashable {
    case file(String)
    case address(String)
  }

  public enum Format: Sendable {
    case vical(VICALSource)
    case trustedEntities(TrustedEntityListSource)
  }

  public init(_ place: Place, _ format: Format) {
    self.place = place
    self.format = format
  }
}

/// The result of loading every source.
public struct TrustLoad: Sendable {
  public let anchors: [TrustAnchor]
  public let sources: [SourceReport]
}

/// The result of loading one source. It holds nothing personal.
public struct SourceReport: Sendable, Hashable {
  public enum Outcome: String, Sendable, Hashable {
    case loaded
    /// The newest list could not be fetched or was refused. The last accepted list is still current, and counts.
    case kept
    /// Nothing of this source is trusted.
    case failed
  }

  public let name: String
  public let outcome: Outcome
  public let anchorCount: Int
  /// The number of entries of the list that can't be used; the checks say why.
  public let leftOut: Int
  /// The findings about the list; empty for files.
  public let checks: [Check]
  /// The last instant at which the list may be relied on; nil for files.
  public let validUntil: Timestamp?
}

extension SourceReport {
  /// Why the source did not load as it should, for a log.
  public var problem: String {
    let reasons = checks.filter { $0.outcome == .failed }.map { check in
      check.code.rawValue + (check.detail.map { " (\($0))" } ?? "")
    }
    return "trust source \"\(name)\" \(outcome.rawValue): \(reasons.joined(separator: ", "))"
  }

  /// How many entries of a list in use are left out, as text for a log; nil if none is.
  public var omission: String? {
    guard leftOut > 0, outcome != .failed else { return nil }
    let reasons = checks.filter { $0.outcome == .warning && $0.code != .listDeviation }
      .map { $0.code.rawValue + ($0.detail.map { " (\($0))" } ?? "") }
    return "trust source \"\(name)\": \(leftOut) of its entries left out, \(anchorCount) anchors kept: "
      + reasons.joined(separator: ", ")
  }
}
