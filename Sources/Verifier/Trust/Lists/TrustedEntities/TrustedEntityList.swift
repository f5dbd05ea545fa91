import Base
import PKIX

/// A list of trusted entities (ETSI TS 119 602, 6) as it is written: who stands on it and with which certificates.
///
/// Reading says nothing about trust: `TrustedEntityListReader` does, from the signature on.
public struct TrustedEntityList: Sendable {
  public let scheme: Scheme
  /// The entities that could be read, in the list's order.
  public let entities: [Entity]
  /// How many others there are, which are left out; the findings say why.
  public let leftOut: Int
  /// Deviations that are tolerated, and entries that are left out.
  public let findings: [Check]

  /// The list's own description (6.3).
  public struct Scheme: Sendable {
    /// Never decreases from one list to the next.
    public let sequenceNumber: Int64
    public let operatorNames: [String]
    public let issued: Timestamp
    /// Nil: the list is closed and has no next one.
    public let nextUpdate: Timestamp?
    /// A URI.
    public let type: String?
    public let statusDeterminationApproach: String?
    public let communityRules: [String]
    /// A country of ISO 3166-1 (`UK` and `EL` for two of them) or `EU`.
    public let territory: String?
    /// Where other lists are, this one among them.
    public let pointers: [Pointer]
    public let hasHistoricalInformationPeriod: Bool
  }

  public struct Pointer: Sendable {
    public let location: String
    public let types: [String]
  }

  /// One trusted entity (6.4, 6.5).
  public struct Entity: Sendable {
    /// Its names, for people.
    public let names: [String]
    public let services: [Service]
  }

  /// One service of an entity (6.6).
  public struct Service: Sendable {
    public let names: [String]
    /// A URI; nil where the list says nothing, and the service is then of no use here.
    public let type: String?
    /// A URI; nil where every service on the list is in force.
    public let status: String?
    public let statusSince: Timestamp?
    /// Authorities, or signers that are trusted by themselves.
    public let certificates: [Certificate]

    /// Whether the list says that the service is in force.
    public func isGranted(at now: Timestamp) -> Bool {
      guard let status else { return true }
      let word = status.split(separator: "/").last.map { $0.lowercased() } ?? ""
      return Self.grantedWords.contains(word) && (statusSince.map { $0 <= now } ?? true)
    }

    /// The last part of a status URI: ETSI TS 119 602, Annex H, and the words of ETSI TS 119 612, 5.5.4.
    private static let grantedWords: Set<String> = ["notified", "granted", "recognisedatnationallevel"]
  }
}

/// Why a payload is no list of trusted entities.
public enum TrustedEntityListError: Error, Sendable, Hashable {
  case malformed(String)
  case versionUnsupported
  /// It has a critical extension; none is known here (6.3.17).
  case criticalExtension(String)
}
