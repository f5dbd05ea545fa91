import Base
import PKIX

/// A list of trusted entities (ETSI TS 119 602, 6) as it is written: its entities and their certificates.
///
/// Reading a list makes nothing trusted. `TrustedEntityListVerifier` does that, beginning with the signature.
public struct TrustedEntityList: Sendable {
  public let scheme: Scheme
  /// The entities that could be read, in the list's order.
  public let entities: [Entity]
  /// The number of entities that are left out because they can't be read; the findings say why.
  public let leftOut: Int
  /// Deviations that are tolerated, and entries that are left out.
  public let findings: [Check]

  /// The list's own description (6.3).
  public struct Scheme: Sendable {
    /// Never decreases from one list to the next.
    public let sequenceNumber: Int64
    public let operatorNames: [String]
    public let issued: Timestamp
    /// When the next list is due; nil means that the list is closed and has no next one.
    public let nextUpdate: Timestamp?
    /// A URI.
    public let type: String?
    public let statusDeterminationApproach: String?
    public let communityRules: [String]
    /// A country of ISO 3166-1 (`UK` and `EL` for two of them) or `EU`.
    public let territory: String?
    /// The addresses of other lists, and of this one.
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
    /// The type's URI; nil if the list gives none, and the service is then not used here.
    public let type: String?
    /// The status's URI; nil if every service on the list is in force.
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

    /// The last parts of the status URIs that mean "in force": ETSI TS 119 602, Annex H, and ETSI TS 119 612, 5.5.4.
    private static let grantedWords: Set<String> = ["notified", "granted", "recognisedatnationallevel"]
  }
}

extension TrustedEntityList {
  /// The only version there is (6.3.1).
  static let version: Int64 = 1

  /// Reads an unsigned payload.
  ///
  /// The scheme's required members must be there. An entity that can't be read is left out with a finding, because one
  /// broken entry must not take away everybody's trust.
  public init(parsing payload: [UInt8]) throws(TrustListError) {
    guard let json = try? JSON(parsing: payload, values: Limits.listItems), json.object != nil else {
      throw .malformed("the payload is not a JSON object")
    }
    var reading = TrustedEntityParser()
    // The German sandbox's lists have no wrapper.
    let list = json["LoTE"] ?? json
    if json["LoTE"] == nil {
      reading.findings.note(.listDeviation, "there is no LoTE member around the list")
    } else if json.object?.count != 1 {
      reading.findings.note(.listDeviation, "there are members beside LoTE")
    }
    guard let information = list["ListAndSchemeInformation"], information.object != nil else {
      throw .malformed("ListAndSchemeInformation is missing")
    }
    guard let version = information["LoTEVersionIdentifier"]?.integer else {
      throw .malformed("LoTEVersionIdentifier is missing or of another type")
    }
    guard version == Self.version else { throw .versionUnsupported("\(version)") }
    // A list without entities may leave the member out.
    guard let entries = (list["TrustedEntitiesList"] ?? []).array else {
      throw .malformed("TrustedEntitiesList is not a list")
    }
    for place in Self.extensible(information, entries) { try reading.requireNoCritical(in: place) }
    scheme = try reading.scheme(information)
    entities = entries.enumerated().compactMap { reading.entity($1, number: $0 + 1) }
    leftOut = entries.count - entities.count
    findings = reading.findings.checks
  }

  /// Every place that may have extensions. An unknown critical extension in any of them rejects the whole list, even in
  /// an entry that is not used here or can't be read.
  private static func extensible(_ information: JSON, _ entries: [JSON]) -> [JSON?] {
    var places = [information["SchemeExtensions"]]
    for entry in entries {
      places.append(entry["TrustedEntityInformation"]?["TEInformationExtensions"])
      for service in entry["TrustedEntityServices"]?.array ?? [] {
        let histories = service["ServiceHistory"]?.array ?? []
        for information in [service["ServiceInformation"]] + histories {
          places.append(information?["ServiceInformationExtensions"])
        }
      }
    }
    return places
  }
}

/// What a list of one kind must contain beyond the general form (ETSI TS 119 602, Annexes D to I).
public struct TrustedEntityListProfile: Sendable {
  public let name: String
  /// LoTEType.
  public let type: String
  public let statusDeterminationApproach: String?
  public let communityRules: String?
  public let territory: String
  /// The types of service that the list may have.
  public let serviceTypes: Set<String>
  /// Whether the list has only services that are in force, so that they have neither status nor history.
  public let forbidsStatus: Bool

  /// The providers of European person identification data (Annex D).
  public static let pidProviders = TrustedEntityListProfile(
    name: "pid-providers", type: "http://uri.etsi.org/19602/LoTEType/EUPIDProvidersList",
    statusDeterminationApproach: "http://uri.etsi.org/19602/PIDProvidersList/StatusDetn/EU",
    communityRules: "http://uri.etsi.org/19602/PIDProviders/schemerules/EU", territory: "EU",
    serviceTypes: [ServiceType.pidIssuance, ServiceType.pidRevocation], forbidsStatus: true)

  /// The providers of European mobile driving licences, as the Commission lists them.
  public static let mDLProviders = TrustedEntityListProfile(
    name: "mdl-providers", type: "http://trust.ec.europa.eu/lists/mDL/mDLProvidersListType",
    statusDeterminationApproach: nil, communityRules: nil, territory: "EU",
    serviceTypes: [ServiceType.mDLIssuance, ServiceType.mDLRevocation], forbidsStatus: false)

  public static let all: [TrustedEntityListProfile] = [pidProviders, mDLProviders]

  /// The service types that the profiles name, for configurations.
  public enum ServiceType {
    public static let pidIssuance = "http://uri.etsi.org/19602/SvcType/PID/Issuance"
    public static let pidRevocation = "http://uri.etsi.org/19602/SvcType/PID/Revocation"
    public static let mDLIssuance = "http://trust.ec.europa.eu/lists/mDL/SvcType/Issuance"
    public static let mDLRevocation = "http://trust.ec.europa.eu/lists/mDL/SvcType/Revocation"
  }

  /// Each point in which a list differs from the profile; empty if it follows it.
  public func deviations(of list: TrustedEntityList) -> [String] {
    let scheme = list.scheme
    let services = list.entities.flatMap(\.services)
    let rules: [(isKept: Bool, name: String)] = [
      (scheme.type == type, "LoTEType is another"),
      (
        statusDeterminationApproach.map { $0 == scheme.statusDeterminationApproach } ?? true,
        "StatusDeterminationApproach is another"
      ),
      (
        communityRules.map(scheme.communityRules.contains) ?? true,
        "SchemeTypeCommunityRules does not name the scheme's rules"
      ),
      (scheme.territory == territory, "SchemeTerritory is another"),
      (scheme.pointers.contains { $0.types.contains(type) }, "PointersToOtherLoTE does not point to the list itself"),
      (services.allSatisfy { $0.type != nil }, "a service has no ServiceTypeIdentifier"),
      (
        services.allSatisfy { $0.type.map(serviceTypes.contains) ?? true },
        "a service is of another type than the list's"
      ),
      (services.allSatisfy { !$0.certificates.isEmpty }, "a service has no certificate"),
      (
        !forbidsStatus || services.allSatisfy { $0.status == nil && $0.statusSince == nil },
        "a service has a status, which such lists do not have"
      ),
      (
        !forbidsStatus || !scheme.hasHistoricalInformationPeriod,
        "HistoricalInformationPeriod is there, which such lists do not have"
      ),
    ]
    return rules.filter { !$0.isKept }.map(\.name)
  }
}
