import Base
import CBOR
import PKIX

/// Reads the entries of a VICAL (ISO/IEC 18013-5, C.1.7) one by one: what is wrong with one costs that one alone.
struct VICALEntryParser {
  private(set) var findings = ListFindings()

  /// Nil where the entry is to be skipped, which is noted.
  mutating func entry(_ item: CBORItem, number: Int) -> VICALContents.Entry? {
    do throws(TrustListError) {
      let members = try VICALMembers(item)
      let entry = try entry(members, number: number)
      var differences = try differences(members, entry.certificate)
      differences += try differenceInKeyIdentifier(members, entry.certificate)
      guard differences.isEmpty else {
        findings.note(.listEntryMismatch, "entry \(number): \(differences.joined(separator: ", "))")
        return nil
      }
      try requireAuthority(entry.certificate)
      try compareAuthority(members, entry)
      return entry
    } catch .malformed(let detail) {
      findings.note(.listEntryMalformed, "entry \(number): \(detail)")
    } catch {
      findings.note(.listEntryMalformed, "entry \(number)")
    }
    return nil
  }

  private mutating func entry(_ members: VICALMembers, number: Int) throws(TrustListError) -> VICALContents.Entry {
    let der = try VICALMembers.required(members.bytes("certificate"), "certificate")
    let docTypes = try VICALMembers.required(members.texts("docType"), "docType")
    let certificate: Certificate
    do throws(CertificateError) {
      certificate = try Certificate(der: der)
    } catch {
      throw .malformed("the certificate \(error.detail)")
    }
    try members.requireMap(tolerated("extensions", in: members))
    return VICALContents.Entry(
      number: number, certificate: certificate, docTypes: docTypes,
      profiles: try members.texts(tolerated("certificateProfile", in: members)) ?? [],
      issuingAuthority: try members.text("issuingAuthority"))
  }

  private mutating func tolerated(_ name: String, in members: VICALMembers) -> String {
    let spelling = members.spelling(name)
    if spelling != name { findings.note(.listDeviation, "entries have \"\(spelling)\" for \"\(name)\"") }
    return spelling
  }

  // MARK: What the entry says of its certificate

  /// The names of the members that are copies of the certificate's fields (C.1.7.1) and say something else. They are there
  /// so that readers need not parse certificates: one that differs would have different readers trust different
  /// authorities.
  private mutating func differences(_ members: VICALMembers, _ certificate: Certificate) throws(TrustListError)
    -> [String]
  {
    let serialNumber = try VICALMembers.required(members.bigUnsigned("serialNumber"), "serialNumber")
    let subject = certificate.subject
    let comparisons: [(name: String, isEqual: Bool)] = [
      ("serialNumber", serialNumber.elementsEqual(certificate.serialNumber.drop { $0 == 0 })),
      ("issuer", try members.bytes("issuer").map { $0.elementsEqual(certificate.issuer.der) } ?? true),
      ("subject", try members.bytes("subject").map { $0.elementsEqual(subject.der) } ?? true),
      ("notBefore", isEqual(try members.time("notBefore"), certificate.validity.lowerBound)),
      ("notAfter", isEqual(try members.time("notAfter"), certificate.validity.upperBound)),
    ]
    return comparisons.filter { !$0.isEqual }.map(\.name)
  }

  /// The country and the state are the authority's (C.1.7.1), and no copies of its certificate's: many certificates have
  /// none. One that differs is worth a look and decides nothing, as the certificate's own are what signers' are held to.
  private mutating func compareAuthority(_ members: VICALMembers, _ entry: VICALContents.Entry) throws(TrustListError) {
    let subject = entry.certificate.subject
    let comparisons = [
      ("issuingCountry", try members.text("issuingCountry"), subject.country),
      ("stateOrProvinceName", try members.text("stateOrProvinceName"), subject.stateOrProvince),
    ]
    for (name, stated, own) in comparisons {
      guard let stated, let own, !stated.isEmpty, !stated.hasSameBytes(as: own) else { continue }
      findings.note(.listDeviation, "entry \(entry.number): \(name) is not its certificate's")
    }
  }

  /// A published list writes hours by a clock of twelve, so that 18:20:55 stands there as 06:20:55. That is tolerated
  /// because nothing depends on it: the certificate's own times count.
  private mutating func isEqual(_ stated: Timestamp?, _ own: Timestamp) -> Bool {
    guard let stated, stated != own else { return true }
    guard stated.date == own.date, stated + 43_200 == own || stated - 43_200 == own else { return false }
    findings.note(.listDeviation, "times are written by a clock of twelve hours")
    return true
  }

  private mutating func differenceInKeyIdentifier(
    _ members: VICALMembers, _ certificate: Certificate
  ) throws(TrustListError) -> [String] {
    let stated = try VICALMembers.required(members.bytes("ski"), "ski")
    guard let own = certificate.extensions.subjectKeyIdentifier else {
      // Nothing is contradicted: who listed it has computed one.
      findings.note(.listDeviation, "certificates have no subject key identifier for ski")
      return []
    }
    if stated.elementsEqual(own) { return [] }
    // A published list gives the extension's DER in its place, as the libraries that read extensions return it.
    guard withoutOctetStringHeads(stated).elementsEqual(own) else { return ["ski"] }
    findings.note(.listDeviation, "ski is wrapped in OCTET STRING")
    return []
  }

  /// The content of an OCTET STRING of short length, or of one inside another.
  private func withoutOctetStringHeads(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    for _ in 0..<2 where rest.count > 2 && rest.first == 0x04 && Int(rest[rest.startIndex + 1]) == rest.count - 2 {
      rest = rest.dropFirst(2)
    }
    return rest
  }

  /// What no path could end in is no entry. Whether an authority is within its validity is looked at when it is used.
  private func requireAuthority(_ certificate: Certificate) throws(TrustListError) {
    guard certificate.extensions.isCA, certificate.extensions.keyUsage?.contains(.keyCertSign) ?? true else {
      throw .malformed("the certificate is of no certification authority")
    }
    guard certificate.publicKey != nil else { throw .malformed("the certificate's key is not of a known curve") }
  }
}
