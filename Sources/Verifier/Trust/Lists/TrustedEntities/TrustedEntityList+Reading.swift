import Base

extension TrustedEntityList {
  /// The only version there is (6.3.1).
  static let version: Int64 = 1

  /// Reads an unsigned payload.
  ///
  /// What the scheme must say is required; an entity that can't be read is left out with a finding, as one broken entry
  /// must not take everybody's trust away.
  public init(parsing payload: [UInt8]) throws(TrustedEntityListError) {
    guard let json = try? JSON(parsing: payload, values: Limits.listItems), json.object != nil else {
      throw .malformed("the payload is not a JSON object")
    }
    var reading = TrustedEntityReading()
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
    guard version == Self.version else { throw .versionUnsupported }
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

  /// All that may have extensions: an unknown critical one anywhere is the list's end, even where its entry is of no use
  /// here or can't be read.
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
