import Base

/// What a list of one kind must say beyond the general form (ETSI TS 119 602, Annexes D to I).
public struct TrustedEntityListProfile: Sendable {
  public let name: String
  /// LoTEType.
  public let type: String
  public let statusDeterminationApproach: String?
  public let communityRules: String?
  public let territory: String
  /// What each service must be one of.
  public let serviceTypes: Set<String>
  /// Whether a service stands on the list only while it is in force, so that there is no status and no history.
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

  /// Everything in which a list differs from the profile; empty where it keeps to it.
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
