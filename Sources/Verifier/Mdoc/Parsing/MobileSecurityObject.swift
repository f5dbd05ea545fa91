import Base
import CBOR
import COSE
import Cryptography

/// The MobileSecurityObject (ISO/IEC 18013-5:2021, 9.1.2.4), which the issuer signed.
final class MobileSecurityObject: Sendable {
  let version: String
  let digestAlgorithm: String
  let docType: String
  let validity: DocumentValidity
  let keyAuthorizations: KeyAuthorizations
  /// The COSE_Key as received, not yet checked; nil if it is missing.
  let deviceKey: CBORItem?
  let status: DeclaredStatus
  /// The tolerated deviations (`Deviation`), each with its member.
  let deviations: [String]
  private let valueDigests: CBORItem
  /// The entries of `valueDigests` by namespace; nil if there are 32 namespaces or fewer.
  private let digestsByNamespace: [UTF8Key: CBORItem]?

  /// - Parameter payload: the byte string in IssuerAuth, `bstr .cbor #6.24(bstr .cbor MobileSecurityObject)`.
  init(parsing payload: CBORItem) throws(MdocParseError) {
    let outer: CBORItem
    do {
      outer = try CBORItem(parsingContentOf: payload)
    } catch {
      throw MdocParseError(error.code, "in the payload that the issuer signed, at byte \(error.offset)")
    }
    let reader = StructureParser(code: .msoMalformed)
    let mso = try reader.embedded(outer, "the payload")
    _ = try reader.entries(mso, "the mobile security object")
    version = try reader.text("version", of: mso)
    digestAlgorithm = try reader.text("digestAlgorithm", of: mso)
    docType = try reader.text("docType", of: mso)
    valueDigests = try reader.member("valueDigests", of: mso)
    digestsByNamespace = try Self.checkDigests(valueDigests)
    var deviations: [String] = []
    let validityInfo = try reader.member("validityInfo", of: mso)
    validity = try reader.inside("validityInfo") { () throws(MdocParseError) in
      try Self.validity(validityInfo, &deviations)
    }
    self.deviations = deviations.map { "validityInfo.\($0)" }
    let deviceKeyInfo = try reader.member("deviceKeyInfo", of: mso)
    _ = try reader.entries(deviceKeyInfo, "deviceKeyInfo")
    deviceKey = deviceKeyInfo[key: "deviceKey"]
    keyAuthorizations = try reader.inside("deviceKeyInfo.keyAuthorizations") { () throws(MdocParseError) in
      try KeyAuthorizations(parsing: deviceKeyInfo[key: "keyAuthorizations"])
    }
    status = if let item = mso[key: "status"] { try DeclaredStatus(parsing: item) } else { .none }
  }

  /// Checks the shape `{+ NameSpace => {+ DigestID => Digest}}`, and returns its table; nil for 32 namespaces or fewer.
  private static func checkDigests(_ valueDigests: CBORItem) throws(MdocParseError) -> [UTF8Key: CBORItem]? {
    let reader = StructureParser(code: .msoMalformed)
    var table: [UTF8Key: CBORItem]? = (valueDigests.count ?? 0) > few ? [:] : nil
    var namespaces = 0
    for (namespace, digests) in try reader.entries(valueDigests, "valueDigests") {
      let name = try reader.text(namespace, "a name in valueDigests")
      guard let entries = digests.entries else { throw reader.fault("valueDigests[\(namespaces)]", "not a map") }
      var position = 0
      for (identifier, digest) in entries {
        guard identifier.kind == .unsigned else {
          throw reader.fault("the DigestID of valueDigests[\(namespaces)][\(position)]", "not an unsigned integer")
        }
        guard digest.kind == .bytes else {
          throw reader.fault("valueDigests[\(namespaces)][\(position)]", "not a byte string")
        }
        position += 1
      }
      table?[UTF8Key(name)] = digests
      namespaces += 1
    }
    return table
  }

  /// The signed digests of one namespace, by their identifiers; nil if the namespace is not signed at all.
  /// - Parameter lookUps: the expected number of look-ups. Above 32, a table is made.
  func digests(of namespace: String, for lookUps: Int) -> SignedDigests? {
    let digests =
      if let digestsByNamespace { digestsByNamespace[UTF8Key(namespace)] } else { valueDigests[key: namespace] }
    return digests.map { SignedDigests($0, isIndexed: lookUps > Self.few) }
  }

  /// Up to this number of look-ups or namespaces, reading the map each time is faster than making a table.
  private static let few = 32

  /// The digests of one namespace by DigestID, found in the received map or, for many look-ups, in a table.
  struct SignedDigests {
    private let map: CBORItem
    private var table: [UInt64: ArraySlice<UInt8>]?

    fileprivate init(_ map: CBORItem, isIndexed: Bool) {
      self.map = map
      guard isIndexed, let entries = map.entries else { return }
      var table: [UInt64: ArraySlice<UInt8>] = [:]
      table.reserveCapacity(map.count ?? 0)
      for (identifier, digest) in entries {
        if let identifier = identifier.unsigned { table[identifier] = digest.bytes }
      }
      self.table = table
    }

    subscript(digestID: UInt64) -> ArraySlice<UInt8>? {
      if let table { return table[digestID] }
      return map[unsigned: digestID]?.bytes
    }
  }

  private static func validity(
    _ item: CBORItem, _ deviations: inout [String]
  ) throws(MdocParseError) -> DocumentValidity {
    let reader = StructureParser(code: .msoMalformed)
    func time(_ item: CBORItem, _ name: String) throws(MdocParseError) -> Timestamp {
      guard let text = item.content(ofTag: 0)?.text else { throw reader.fault(name, "not a text string with tag 0") }
      guard let time = Timestamp(rfc3339: text) else { throw reader.fault(name, "not a UTC date and time of RFC 3339") }
      return time
    }
    _ = try reader.entries(item, ": it")
    return DocumentValidity(
      signed: try time(reader.member("signed", of: item), "signed"),
      validFrom: try time(reader.member("validFrom", of: item), "validFrom"),
      validUntil: try time(reader.member("validUntil", of: item), "validUntil"),
      expectedUpdate: try Deviation.member("expectedUpdate", of: item, into: &deviations)
        .map { item throws(MdocParseError) in try time(item, "expectedUpdate") })
  }
}

/// The device-signed elements that the issuer allows the device key to sign.
struct KeyAuthorizations: Sendable {
  private var namespaces: Set<UTF8Key> = []
  private var elements: Set<ElementReference> = []

  init(parsing item: CBORItem?) throws(MdocParseError) {
    guard let item else { return }
    let reader = StructureParser(code: .msoMalformed)
    _ = try reader.entries(item, ": it")
    if let list = item[key: "nameSpaces"] {
      for name in try reader.elements(list, "nameSpaces") {
        namespaces.insert(UTF8Key(try reader.text(name, "a name in nameSpaces")))
      }
    }
    if let map = item[key: "dataElements"] {
      for (namespace, list) in try reader.entries(map, "dataElements") {
        let name = try reader.text(namespace, "a name in dataElements")
        for identifier in try reader.elements(list, "the value of a name in dataElements") {
          elements.insert(ElementReference(name, try reader.text(identifier, "an identifier in dataElements")))
        }
      }
    }
  }

  func allows(_ element: ElementReference) -> Bool {
    namespaces.contains(UTF8Key(element.namespace)) || elements.contains(element)
  }
}
