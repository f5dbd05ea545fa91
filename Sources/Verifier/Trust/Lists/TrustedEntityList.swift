import Base
import PKIX

/// A list of trusted entities (ETSI TS 119 602, 6) as received. Only `TrustedEntityListVerifier` establishes trust in
/// it.
public struct TrustedEntityList: Sendable {
  public let scheme: Scheme
  /// The entities that could be read, in the list's order.
  public let entities: [Entity]
  /// The number of unreadable entities. The findings give the reasons.
  public let leftOut: Int
  /// Findings about tolerated deviations and omitted entries.
  public let findings: [Check]

  /// The list's own description (6.3).
  public struct Scheme: Sendable {
    /// It never decreases from one list to the next.
    public let sequenceNumber: Int64
    public let operatorNames: [String]
    public let issued: Timestamp
    /// The time when the next list is due; nil if the list is closed and has no successor.
    public let nextUpdate: Timestamp?
    /// A URI.
    public let type: String?
    public let statusDeterminationApproach: String?
    public let communityRules: [String]
    /// A country of ISO 3166-1 (`UK` and `EL` for two of them) or `EU`.
    public let territory: String?
    /// The addresses of other lists, and of this list.
    public let pointers: [Pointer]
    public let hasHistoricalInformationPeriod: Bool
  }

  public struct Pointer: Sendable {
    public let location: String
    public let types: [String]
  }

  /// One trusted entity (6.4, 6.5).
  public struct Entity: Sendable {
    /// The entity's display names.
    public let names: [String]
    public let services: [Service]
  }

  /// One service of an entity (6.6).
  public struct Service: Sendable {
    public let names: [String]
    /// The type's URI. Nil if the list states no type. The service is then unused.
    public let type: String?
    /// The status's URI; nil if every service on the list is in force.
    public let status: String?
    public let statusSince: Timestamp?
    /// Certificates of authorities, or of signers that are trusted directly.
    public let certificates: [Certificate]

    /// True if the list states that the service is in force.
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
  /// The only version (6.3.1).
  static let version: Int64 = 1

  /// Reads an unsigned payload. An unreadable entity is omitted: its fault must not affect the other entities.
  public init(parsing payload: [UInt8]) throws(TrustListError) {
    guard let json = try? JSON(parsing: payload, values: Limits.listItems), json.object != nil else {
      throw .malformed("the payload is not a JSON object")
    }
    var reading = TrustedEntityParser()
    // The lists of the German sandbox have no `LoTE` wrapper.
    let list = json["LoTE"] ?? json
    if json["LoTE"] == nil {
      reading.findings.note(.listDeviation, "no LoTE member around the list")
    } else if json.object?.count != 1 {
      reading.findings.note(.listDeviation, "members beside LoTE")
    }
    guard let information = list["ListAndSchemeInformation"], information.object != nil else {
      throw .malformed("ListAndSchemeInformation is missing")
    }
    guard let version = information["LoTEVersionIdentifier"]?.integer else {
      throw .malformed("LoTEVersionIdentifier is missing or of another type")
    }
    guard version == Self.version else { throw .versionUnsupported("\(version)") }
    // A list without entities may omit the member.
    guard let entries = (list["TrustedEntitiesList"] ?? []).array else {
      throw .malformed("TrustedEntitiesList is not a list")
    }
    for extensions in Self.extensions(information, entries) { try reading.requireNoCritical(in: extensions) }
    scheme = try reading.scheme(information)
    entities = entries.enumerated().compactMap { reading.entity($1, number: $0 + 1) }
    leftOut = entries.count - entities.count
    findings = reading.findings.checks
  }

  /// Members that may have extensions. An unknown critical extension rejects the list, even in an unused entry.
  private static func extensions(_ information: JSON, _ entries: [JSON]) -> [JSON?] {
    var found = [information["SchemeExtensions"]]
    for entry in entries {
      found.append(entry["TrustedEntityInformation"]?["TEInformationExtensions"])
      for service in entry["TrustedEntityServices"]?.array ?? [] {
        let histories = service["ServiceHistory"]?.array ?? []
        found += ([service["ServiceInformation"]] + histories).map { $0?["ServiceInformationExtensions"] }
      }
    }
    return found
  }
}

/// The requirements on one kind of list beyond the general form (ETSI TS 119 602, Annexes D to I).
public struct TrustedEntityListProfile: Sendable {
  public let name: String
  /// LoTEType.
  public let type: String
  public let statusDeterminationApproach: String?
  public let communityRules: String?
  public let territory: String
  /// The service types that the list may have.
  public let serviceTypes: Set<String>
  /// True if all services are in force and have neither status nor history.
  public let forbidsStatus: Bool

  /// The providers of European person identification data (Annex D).
  public static let pidProviders = TrustedEntityListProfile(
    name: "pid-providers", type: "http://uri.etsi.org/19602/LoTEType/EUPIDProvidersList",
    statusDeterminationApproach: "http://uri.etsi.org/19602/PIDProvidersList/StatusDetn/EU",
    communityRules: "http://uri.etsi.org/19602/PIDProviders/schemerules/EU", territory: "EU",
    serviceTypes: [
      "http://uri.etsi.org/19602/SvcType/PID/Issuance", "http://uri.etsi.org/19602/SvcType/PID/Revocation",
    ], forbidsStatus: true)

  /// The providers of European mobile driving licences on the Commission's list.
  public static let mDLProviders = TrustedEntityListProfile(
    name: "mdl-providers", type: "http://trust.ec.europa.eu/lists/mDL/mDLProvidersListType",
    statusDeterminationApproach: nil, communityRules: nil, territory: "EU",
    serviceTypes: [
      "http://trust.ec.europa.eu/lists/mDL/SvcType/Issuance", "http://trust.ec.europa.eu/lists/mDL/SvcType/Revocation",
    ], forbidsStatus: false)

  public static let all: [TrustedEntityListProfile] = [pidProviders, mDLProviders]

  /// The list's deviations from the profile; empty if there are none.
  public func deviations(of list: TrustedEntityList) -> [String] {
    let scheme = list.scheme
    let services = list.entities.flatMap(\.services)
    let rules: [(isKept: Bool, name: String)] = [
      (scheme.type == type, "LoTEType differs from the profile's"),
      (
        statusDeterminationApproach.map { $0 == scheme.statusDeterminationApproach } ?? true,
        "StatusDeterminationApproach differs from the profile's"
      ),
      (
        communityRules.map(scheme.communityRules.contains) ?? true,
        "SchemeTypeCommunityRules does not contain the scheme's rules"
      ),
      (scheme.territory == territory, "SchemeTerritory differs from the profile's"),
      (scheme.pointers.contains { $0.types.contains(type) }, "PointersToOtherLoTE does not point to the list itself"),
      (services.allSatisfy { $0.type != nil }, "a service has no ServiceTypeIdentifier"),
      (
        services.allSatisfy { $0.type.map(serviceTypes.contains) ?? true },
        "a service's type is not one of the list's"
      ),
      (services.allSatisfy { !$0.certificates.isEmpty }, "a service has no certificate"),
      (
        !forbidsStatus || services.allSatisfy { $0.status == nil && $0.statusSince == nil },
        "a service has a status, which such lists must not have"
      ),
      (
        !forbidsStatus || !scheme.hasHistoricalInformationPeriod,
        "HistoricalInformationPeriod is present; such lists must not have it"
      ),
    ]
    return rules.filter { !$0.isKept }.map(\.name)
  }
}

/// Reads the parts of a list of trusted entities, and records their deviations.
struct TrustedEntityParser {
  var findings = ListFindings()

  mutating func scheme(_ json: JSON) throws(TrustListError) -> TrustedEntityList.Scheme {
    guard let number = json["LoTESequenceNumber"]?.integer, number >= 0 else {
      throw .malformed("LoTESequenceNumber is missing or not a non-negative integer")
    }
    guard let operators = texts(json["SchemeOperatorName"]), !operators.isEmpty else {
      throw .malformed("SchemeOperatorName is missing or of another type")
    }
    guard let issued = time(json["ListIssueDateTime"]) else {
      throw .malformed("ListIssueDateTime is missing or not a time")
    }
    let nextUpdate = json["NextUpdate"]
    let next = time(nextUpdate)
    guard next != nil || nextUpdate == .null else { throw .malformed("NextUpdate is missing or not a time") }
    if let next, next < issued { throw .malformed("NextUpdate is before ListIssueDateTime") }
    if let next, next > Self.latestNextUpdate(of: issued) {
      findings.note(.listDeviation, "NextUpdate is more than six months after ListIssueDateTime")
    }
    if json["SchemeTerritory"]?.string == nil { findings.note(.listDeviation, "SchemeTerritory is missing") }
    return TrustedEntityList.Scheme(
      sequenceNumber: number, operatorNames: operators, issued: issued, nextUpdate: next,
      type: json["LoTEType"]?.string, statusDeterminationApproach: json["StatusDeterminationApproach"]?.string,
      communityRules: texts(json["SchemeTypeCommunityRules"], under: "uriValue") ?? [],
      territory: json["SchemeTerritory"]?.string,
      pointers: (json["PointersToOtherLoTE"]?.array ?? []).compactMap(Self.pointer),
      hasHistoricalInformationPeriod: json["HistoricalInformationPeriod"] != nil)
  }

  /// Six calendar months later (ETSI TS 119 602, Annexes D to I), plus a day if the last month is too short.
  private static func latestNextUpdate(of issued: Timestamp) -> Timestamp {
    let day = issued.date
    let months = day.month + 6
    let (year, month) = months > 12 ? (day.year + 1, months - 12) : (day.year, months)
    // If that month has no such day, uses the first day of the next month.
    let later =
      FullDate(year: year, month: month, day: day.day) ?? FullDate(year: year, month: month + 1, day: 1) ?? day
    return issued + Int64(later.daysSince1970 - day.daysSince1970) * 86_400
  }

  private static func pointer(_ json: JSON) -> TrustedEntityList.Pointer? {
    json["LoTELocation"]?.string.map { location in
      TrustedEntityList.Pointer(
        location: location, types: (json["LoTEQualifiers"]?.array ?? []).compactMap { $0["LoTEType"]?.string })
    }
  }

  // MARK: Entities

  mutating func entity(_ json: JSON, number: Int) -> TrustedEntityList.Entity? {
    guard let services = json["TrustedEntityServices"]?.array else {
      findings.note(.listEntryMalformed, "entity \(number): TrustedEntityServices is missing or not a list")
      return nil
    }
    let names = texts(json["TrustedEntityInformation"]?["TEName"]) ?? []
    if names.isEmpty { findings.note(.listDeviation, "entity \(number): TEName is missing") }
    return TrustedEntityList.Entity(
      names: names,
      services: services.enumerated().compactMap { service($1, label: "entity \(number), service \($0 + 1)") })
  }

  private mutating func service(_ json: JSON, label: String) -> TrustedEntityList.Service? {
    guard let information = json["ServiceInformation"], let identity = information["ServiceDigitalIdentity"],
      identity.object != nil
    else {
      findings.note(.listEntryMalformed, "\(label): ServiceDigitalIdentity is missing")
      return nil
    }
    let (type, status) = (information["ServiceTypeIdentifier"], information["ServiceStatus"])
    let since = information["StatusStartingTime"]
    let statusSince = time(since)
    guard type == nil || type?.string != nil, status == nil || status?.string != nil,
      since == nil || statusSince != nil
    else {
      findings.note(.listEntryMalformed, "\(label): a member of ServiceInformation is of another type")
      return nil
    }
    return TrustedEntityList.Service(
      names: texts(information["ServiceName"]) ?? [], type: type?.string, status: status?.string,
      statusSince: statusSince, certificates: certificates(identity, label: label))
  }

  /// Reads the certificates of a digital identity (6.6.3). The identity's other members describe the same key. A
  /// certificate with none of the entry's subject key identifiers contradicts the entry, and is omitted.
  private mutating func certificates(_ identity: JSON, label: String) -> [Certificate] {
    guard let entries = (identity["X509Certificates"] ?? []).array, let keys = (identity["X509SKIs"] ?? []).array else {
      findings.note(.listEntryMalformed, "\(label): X509Certificates or X509SKIs is not a list")
      return []
    }
    let identifiers = keys.compactMap { $0.string.flatMap(Base64.decode) }
    guard identifiers.count == keys.count else {
      findings.note(.listEntryMalformed, "\(label): X509SKIs is not base64")
      return []
    }
    var certificates: [Certificate] = []
    for (index, entry) in entries.enumerated() {
      guard let der = entry["val"]?.string.flatMap(Base64.decode) else {
        findings.note(.listEntryMalformed, "\(label): certificate \(index + 1) is not base64")
        continue
      }
      let certificate: Certificate
      do throws(CertificateError) {
        certificate = try Certificate(der: der)
      } catch {
        findings.note(.listEntryMalformed, "\(label): certificate \(index + 1) \(error.detail)")
        continue
      }
      let identifier = certificate.extensions.subjectKeyIdentifier
      if !identifiers.isEmpty, !identifiers.contains(where: { $0 == identifier }) {
        findings.note(.listEntryMismatch, "\(label): certificate \(index + 1) has another subject key identifier")
        continue
      }
      certificates.append(certificate)
    }
    return certificates
  }

  /// Rejects critical extensions. The standard does not specify how an extension is marked as critical: any value but
  /// `false` means critical.
  mutating func requireNoCritical(in extensions: JSON?) throws(TrustListError) {
    guard let extensions else { return }
    guard let list = extensions.array else { throw .malformed("extensions are not a list") }
    for item in list {
      let mark = item.object?.first { $0.name.lowercased() == "critical" }
      guard let mark else {
        findings.note(.listDeviation, "an extension does not say whether it is critical")
        continue
      }
      guard mark.value == .bool(false) else {
        throw .criticalExtension(item.object?.first { $0.name != mark.name }?.name ?? "without a name")
      }
    }
  }

  /// Reads texts in several languages; nil if the value is not a list of such texts.
  private mutating func texts(_ json: JSON?, under name: String = "value") -> [String]? {
    guard let elements = json?.array else { return nil }
    var texts: [String] = []
    for element in elements {
      guard let text = element[name]?.string, let language = element["lang"]?.string else { return nil }
      let isPlain = language.utf8.count == 2 && language.utf8.allSatisfy { (0x61...0x7a).contains($0) }
      if !isPlain { findings.note(.listDeviation, "a language is not two lower-case letters") }
      texts.append(text)
    }
    return texts
  }

  private mutating func time(_ json: JSON?) -> Timestamp? {
    guard let text = json?.string, let time = Timestamp(rfc3339: text) else { return nil }
    if text.contains(".") { findings.note(.listDeviation, "a time has a fraction of a second") }
    return time
  }
}
