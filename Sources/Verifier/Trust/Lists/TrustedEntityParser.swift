import Base
import PKIX

/// Reads the parts of a list of trusted entities, and notes their deviations.
struct TrustedEntityParser {
  var findings = ListFindings()

  // MARK: Scheme

  mutating func scheme(_ json: JSON) throws(TrustListError) -> TrustedEntityList.Scheme {
    guard let number = json["LoTESequenceNumber"]?.integer, number >= 0 else {
      throw .malformed("LoTESequenceNumber is missing or no number from 0")
    }
    guard let operators = texts(json["SchemeOperatorName"]), !operators.isEmpty else {
      throw .malformed("SchemeOperatorName is missing or of another type")
    }
    guard let issued = time(json["ListIssueDateTime"]) else {
      throw .malformed("ListIssueDateTime is missing or no time")
    }
    let nextUpdate = json["NextUpdate"]
    let next = time(nextUpdate)
    guard next != nil || nextUpdate == .null else { throw .malformed("NextUpdate is missing or no time") }
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

  /// Six months by the calendar (ETSI TS 119 602, Annexes D to I), and a day more if the last month is too short.
  private static func latestNextUpdate(of issued: Timestamp) -> Timestamp {
    let day = issued.date
    let months = day.month + 6
    let (year, month) = months > 12 ? (day.year + 1, months - 12) : (day.year, months)
    // If that month has no such day, the first day of the next month counts.
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
      findings.note(.listEntryMalformed, "entity \(number): TrustedEntityServices is missing or no list")
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

  /// The certificates of a digital identity (6.6.3). The identity's other members describe the same key. So a
  /// certificate that has none of its subject key identifiers contradicts the entry, and is left out.
  private mutating func certificates(_ identity: JSON, label: String) -> [Certificate] {
    guard let entries = (identity["X509Certificates"] ?? []).array, let keys = (identity["X509SKIs"] ?? []).array else {
      findings.note(.listEntryMalformed, "\(label): X509Certificates or X509SKIs is no list")
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

  // MARK: Parts

  /// Rejects the list if one of the extensions is critical. The standard does not fix how an extension says so, so
  /// anything but `false` counts as critical.
  mutating func requireNoCritical(in extensions: JSON?) throws(TrustListError) {
    guard let extensions else { return }
    guard let list = extensions.array else { throw .malformed("extensions are no list") }
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

  /// Texts in several languages; nil if the value is no list of such texts.
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
