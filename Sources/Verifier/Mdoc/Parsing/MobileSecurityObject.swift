import Base
import CBOR
import COSE
import Cryptography

/// The MobileSecurityObject (ISO/IEC 18013-5:2021, 9.1.2.4), which the issuer signed.
struct MobileSecurityObject: Sendable {
  let version: String
  let digestAlgorithm: String
  let docType: String
  let validity: DocumentValidity
  let keyAuthorizations: KeyAuthorizations
  /// The COSE_Key as received; nil if it is missing. Another check decides whether it is a usable key.
  let deviceKey: CBORItem?
  let status: DeclaredStatus
  /// The slips that were read past (`Slip`), each with its member.
  let slips: [String]
  private let valueDigests: CBORItem
  /// The entries of `valueDigests` by namespace; nil if there are 32 namespaces or fewer.
  private let digestsByNamespace: [UTF8Key: CBORItem]?

  /// - Parameter payload: the byte string that IssuerAuth carries, `bstr .cbor #6.24(bstr .cbor MobileSecurityObject)`.
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
    let namespaces = try Self.checkDigests(valueDigests)
    digestsByNamespace =
      namespaces > MobileSecurityObject.few ? try MobileSecurityObject.table(of: valueDigests, reader) : nil
    var slips: [String] = []
    validity = try MobileSecurityObject.validity(reader.member("validityInfo", of: mso), &slips)
    self.slips = slips
    let deviceKeyInfo = try reader.member("deviceKeyInfo", of: mso)
    _ = try reader.entries(deviceKeyInfo, "deviceKeyInfo")
    deviceKey = deviceKeyInfo[key: "deviceKey"]
    do {
      keyAuthorizations = try KeyAuthorizations(parsing: deviceKeyInfo[key: "keyAuthorizations"])
    } catch {
      throw error.inside("deviceKeyInfo.keyAuthorizations")
    }
    status = if let item = mso[key: "status"] { try DeclaredStatus(parsing: item) } else { .none }
  }

  /// Checks the shape `{+ NameSpace => {+ DigestID => Digest}}`, and returns the number of namespaces.
  private static func checkDigests(_ valueDigests: CBORItem) throws(MdocParseError) -> Int {
    let reader = StructureParser(code: .msoMalformed)
    var namespaces = 0
    for (namespace, digests) in try reader.entries(valueDigests, "valueDigests") {
      _ = try reader.text(namespace, "a name in valueDigests")
      guard let entries = digests.entries else { throw reader.fault("valueDigests[\(namespaces)]", "no map") }
      var position = 0
      for (identifier, digest) in entries {
        guard identifier.kind == .unsigned else {
          throw reader.fault("the DigestID of valueDigests[\(namespaces)][\(position)]", "no unsigned integer")
        }
        guard digest.kind == .bytes else {
          throw reader.fault("valueDigests[\(namespaces)][\(position)]", "no byte string")
        }
        position += 1
      }
      namespaces += 1
    }
    return namespaces
  }

  /// The signed digests of one namespace, by their identifiers; nil if the namespace is not signed at all.
  ///
  /// - Parameter lookUps: the number of digests that will be looked up; above 32 a table is made.
  func digests(of namespace: String, for lookUps: Int) -> SignedDigests? {
    let digests =
      if let digestsByNamespace { digestsByNamespace[UTF8Key(namespace)] } else { valueDigests[key: namespace] }
    return digests.map { SignedDigests($0, isIndexed: lookUps > MobileSecurityObject.few) }
  }

  /// Up to this many look-ups or namespaces, reading the map each time is faster than making a table of it.
  private static let few = 32

  private static func table(
    of valueDigests: CBORItem, _ reader: StructureParser
  ) throws(MdocParseError) -> [UTF8Key: CBORItem] {
    var table: [UTF8Key: CBORItem] = [:]
    for (namespace, digests) in try reader.entries(valueDigests, "valueDigests") {
      table[UTF8Key(try reader.text(namespace, "a name in valueDigests"))] = digests
    }
    return table
  }

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
    _ item: CBORItem, _ slips: inout [String]
  ) throws(MdocParseError) -> DocumentValidity {
    let reader = StructureParser(code: .msoMalformed)
    func time(_ item: CBORItem, _ name: String) throws(MdocParseError) -> Timestamp {
      guard let text = item.content(ofTag: 0)?.text else { throw reader.fault(name, "no text string with tag 0") }
      guard let time = Timestamp(rfc3339: text) else { throw reader.fault(name, "no date and time in UTC of RFC 3339") }
      return time
    }
    do throws(MdocParseError) {
      _ = try reader.entries(item, ": it")
      var slipsOfMembers: [String] = []
      defer { slips += slipsOfMembers.map { "validityInfo.\($0)" } }
      return DocumentValidity(
        signed: try time(reader.member("signed", of: item), "signed"),
        validFrom: try time(reader.member("validFrom", of: item), "validFrom"),
        validUntil: try time(reader.member("validUntil", of: item), "validUntil"),
        expectedUpdate: try Slip.member("expectedUpdate", of: item, into: &slipsOfMembers)
          .map { item throws(MdocParseError) in try time(item, "expectedUpdate") })
    } catch {
      throw error.inside("validityInfo")
    }
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
        for identifier in try reader.elements(list, "what stands under a name in dataElements") {
          elements.insert(ElementReference(name, try reader.text(identifier, "an identifier in dataElements")))
        }
      }
    }
  }

  func allows(_ element: ElementReference) -> Bool {
    namespaces.contains(UTF8Key(element.namespace)) || elements.contains(element)
  }
}
