import Base
import CBOR

/// A DeviceResponse (ISO/IEC 18013-5:2021, 8.3.2.1.2.2) as received.
///
/// It is unverified and opaque: nothing in it can be read outside this module. Only `MdocVerifier` turns it into
/// documents whose elements have accessors. Unknown map keys are ignored everywhere.
public struct DeviceResponse: Sendable, CustomStringConvertible, CustomReflectable {
  let version: String
  let status: UInt64
  let documents: [Document]
  let documentErrors: [String]
  /// The second edition's ZkDocuments, which are read only if proofs were requested (`ZkDocument`).
  let zkDocuments: [CBORItem]
  /// The number of the second edition's encrypted documents, which are not read.
  let encryptedDocuments: Int
  /// The tolerated deviations (`Deviation`), each with its member.
  let deviations: [String]
  /// Whether the response holds data that is never read: a member of no standard, or an encrypted document.
  let leavesUnread: Bool

  /// - Throws: a `cbor.*`, `mdoc.response.*` or `mdoc.item.*` code for bytes that are not a DeviceResponse.
  public init(parsing bytes: [UInt8]) throws(MdocParseError) {
    try self.init(parsing: CBORItem(parsing: bytes, for: Recognition.deviceResponse))
  }

  /// Nil, with the failed check recorded, for bytes that are not a DeviceResponse.
  package init?(parsing bytes: [UInt8], into checks: inout CheckList) {
    do throws(MdocParseError) {
      try self.init(parsing: bytes)
    } catch {
      checks.append([error.check])
      return nil
    }
  }

  /// Reads a DeviceResponse that is part of a larger item.
  package init(parsing item: CBORItem) throws(MdocParseError) {
    do throws(MdocParseError) {
      try self.init(reading: item)
    } catch {
      throw error.explained(Recognition.mistake(item, for: Recognition.deviceResponse))
    }
  }

  private init(reading item: CBORItem) throws(MdocParseError) {
    let reader = StructureParser(code: .responseMalformed)
    var deviations: [String] = []
    _ = try reader.entries(item, "the DeviceResponse")
    version = try reader.text("version", of: item)
    status = try reader.unsigned("status", of: item)
    let errors = Deviation.member("documentErrors", of: item, into: &deviations)
    Deviation.noteIfEmpty("documentErrors", errors, into: &deviations)
    documentErrors = try errors.map(DeviceResponse.docTypes) ?? []
    zkDocuments = try DeviceResponse.items(of: "zkDocuments", in: item, &deviations)
    // The number is limited, since each document gets its own report.
    guard zkDocuments.count <= Limits.documents else {
      throw MdocParseError(.documentUnexpected, "more than \(Limits.documents) proofs")
    }
    encryptedDocuments = try DeviceResponse.items(of: "encryptedDocuments", in: item, &deviations).count
    var documents: [Document] = []
    if let list = Deviation.member("documents", of: item, into: &deviations) {
      for element in try reader.elements(list, "documents") {
        documents.append(
          try reader.inside("documents[\(documents.count)]", document: documents.count) { () throws(MdocParseError) in
            try Document(parsing: element)
          })
        guard documents.count <= Limits.documents else {
          throw MdocParseError(.documentUnexpected, "more than \(Limits.documents) documents")
        }
      }
    }
    self.documents = documents
    self.deviations =
      deviations
      + documents.enumerated().flatMap { index, document in document.deviations.map { "documents[\(index)].\($0)" } }
    leavesUnread =
      encryptedDocuments > 0 || documents.contains(where: \.leavesUnread)
      || zkDocuments.contains(where: ZkDocument.leavesUnread)
      || StructureParser.leavesUnread(
        item, but: "version", "status", "documents", "documentErrors", "zkDocuments", "encryptedDocuments")
  }

  private static func docTypes(inErrors item: CBORItem) throws(MdocParseError) -> [String] {
    let reader = StructureParser(code: .responseMalformed)
    var docTypes: [String] = []
    for map in try reader.elements(item, "documentErrors") {
      for (docType, code) in try reader.entries(map, "an entry of documentErrors") {
        guard code.integer != nil else { throw reader.fault("a code in documentErrors", "not an integer") }
        docTypes.append(try reader.text(docType, "a document type in documentErrors"))
      }
    }
    return docTypes
  }

  private static func items(
    of key: String, in item: CBORItem, _ deviations: inout [String]
  ) throws(MdocParseError) -> [CBORItem] {
    guard let list = Deviation.member(key, of: item, into: &deviations) else { return [] }
    guard let items = list.elements else { throw StructureParser(code: .responseMalformed).fault(key, "not an array") }
    return Array(items)
  }

  public var description: String { "DeviceResponse(\(documents.count) documents, unverified)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Deviations of wallets and issuers that are tolerated, with a warning.
///
/// A member that must be absent may be null, undefined or empty. The device's payload, which must be detached, may be
/// attached if it has the signed bytes. Neither deviation changes the meaning of the data. Nothing else is tolerated:
/// no ambiguous fault and no missing required member. In the data that the issuer signed, only an empty
/// `expectedUpdate` is tolerated.
enum Deviation {
  /// The member; nil if it is absent, null or undefined. Null and undefined are recorded.
  static func member(_ key: String, of item: CBORItem, into deviations: inout [String]) -> CBORItem? {
    guard let value = item[key: key] else { return nil }
    guard let nothing = name(ofNothing: value) else { return value }
    deviations.append("\(key) is \(nothing)")
    return nil
  }

  /// Records an empty member that must not be empty (`{+ …}` and `[+ …]` in the standard's CDDL).
  static func noteIfEmpty(_ key: String, _ item: CBORItem?, into deviations: inout [String]) {
    if item?.count == 0 { deviations.append("\(key) is empty") }
  }

  /// Records three deviations: a null or undefined unprotected header, an undefined detached payload, and an attached
  /// payload. RFC 9052, 3 requires an unprotected header, even if empty. Device authentication rejects a payload that
  /// differs from the signed bytes.
  static func noteFields(
    of message: CBORItem?, _ name: String, isDetached: Bool = true, into deviations: inout [String]
  ) {
    guard let fields = message?.elements.map(Array.init), fields.count == 4 else { return }
    if let nothing = self.name(ofNothing: fields[1]) {
      deviations.append("\(name): the unprotected header is \(nothing)")
    }
    if fields[2].kind == .undefined { deviations.append("\(name): the payload is undefined") }
    if isDetached, fields[2].kind == .bytes { deviations.append("\(name): the payload is attached") }
  }

  private static func name(ofNothing item: CBORItem) -> String? {
    switch item.kind {
    case .null: "null"
    case .undefined: "undefined"
    default: nil
    }
  }
}

/// One Document of a DeviceResponse. Parts that must be authenticated are kept as received: the verifier reports their
/// faults later.
final class Document: Sendable {
  let docType: String
  let issuerAuth: CBORItem?
  let issuerSigned: [IssuerSignedNamespace]
  let deviceSigned: DeviceSigned?
  /// The tolerated deviations (`Deviation`), each with its member.
  let deviations: [String]
  /// Whether the document or one of its items has a member that no standard defines.
  let leavesUnread: Bool

  init(parsing item: CBORItem) throws(MdocParseError) {
    let reader = StructureParser(code: .responseMalformed)
    var deviations: [String] = []
    _ = try reader.entries(item, ": the document")
    docType = try reader.text("docType", of: item)
    let issuerSigned = try reader.member("issuerSigned", of: item)
    _ = try reader.entries(issuerSigned, "issuerSigned")
    issuerAuth = issuerSigned[key: "issuerAuth"]
    var ofIssuer: [String] = []
    let nameSpaces = Deviation.member("nameSpaces", of: issuerSigned, into: &ofIssuer)
    Deviation.noteFields(of: issuerAuth, "issuerAuth", isDetached: false, into: &ofIssuer)
    deviations += ofIssuer.map { "issuerSigned.\($0)" }
    self.issuerSigned = try nameSpaces.map(Self.namespaces) ?? []
    deviceSigned = try item[key: "deviceSigned"].map { item throws(MdocParseError) in
      try reader.inside("deviceSigned") { () throws(MdocParseError) in try DeviceSigned(parsing: item) }
    }
    deviations += deviceSigned?.deviations.map { "deviceSigned.\($0)" } ?? []
    // `errors` is unsigned and not read. Only its deviations are recorded.
    Deviation.noteIfEmpty("errors", Deviation.member("errors", of: item, into: &deviations), into: &deviations)
    self.deviations = deviations
    leavesUnread =
      StructureParser.leavesUnread(item, but: "docType", "issuerSigned", "deviceSigned", "errors")
      || StructureParser.leavesUnread(issuerSigned, but: "nameSpaces", "issuerAuth")
      || StructureParser.leavesUnread(item[key: "deviceSigned"], but: "nameSpaces", "deviceAuth")
      || StructureParser.leavesUnread(
        item[key: "deviceSigned"]?[key: "deviceAuth"], but: "deviceSignature", "deviceMac")
      || self.issuerSigned.contains { $0.items.contains(where: \.leavesUnread) }
  }

  private static func namespaces(_ map: CBORItem) throws(MdocParseError) -> [IssuerSignedNamespace] {
    let reader = StructureParser(code: .responseMalformed)
    let member = "issuerSigned.nameSpaces"
    var namespaces: [IssuerSignedNamespace] = []
    for (name, items) in try reader.entries(map, member) {
      let name = try reader.text(name, "a name in \(member)")
      namespaces.append(
        try reader.inside("\(member)[\(namespaces.count)]") { () throws(MdocParseError) in
          try IssuerSignedNamespace(name: name, parsing: items)
        })
    }
    return namespaces
  }
}

/// The items that the issuer signed in one namespace.
struct IssuerSignedNamespace: Sendable {
  let name: String
  let items: [IssuerSignedItem]

  init(name: String, parsing list: CBORItem) throws(MdocParseError) {
    self.name = name
    let reader = StructureParser(code: .responseMalformed)
    var items: [IssuerSignedItem] = []
    let list = try reader.elements(list, ": it")
    items.reserveCapacity(list.underestimatedCount)
    for item in list {
      items.append(
        try reader.inside("[\(items.count)]") { () throws(MdocParseError) in try IssuerSignedItem(parsing: item) })
    }
    self.items = items
  }
}

/// An IssuerSignedItem with the bytes that its digest covers (ISO/IEC 18013-5:2021, 9.1.2.5).
struct IssuerSignedItem: Sendable {
  /// The whole `#6.24(bstr …)`, as received.
  let digestInput: ArraySlice<UInt8>
  /// The identifier of the item's digest in the MobileSecurityObject. Any 64-bit number is accepted, although issuers
  /// must use numbers below 2^31 (9.1.2.4).
  let digestID: UInt64
  let randomLength: Int
  let identifier: String
  let value: CBORItem
  /// Whether the item has a fifth member. Such a member is ignored.
  let leavesUnread: Bool

  init(parsing tagged: CBORItem) throws(MdocParseError) {
    guard let item = tagged.embedded else { throw MdocParseError(.itemNotTag24, ": not a byte string with tag 24") }
    let reader = StructureParser(code: .itemMalformed)
    digestInput = tagged.encoded
    // Read the map in one pass, since four look-ups for each of many items would be slow.
    var digestID: CBORItem?
    var random: CBORItem?
    var identifier: CBORItem?
    var value: CBORItem?
    for entry in try reader.entries(item, ": the item") {
      if entry.key.isText("digestID") {
        digestID = entry.value
      } else if entry.key.isText("random") {
        random = entry.value
      } else if entry.key.isText("elementIdentifier") {
        identifier = entry.value
      } else if entry.key.isText("elementValue") {
        value = entry.value
      }
    }
    guard let digestID, let random, let identifier, let value else {
      let members = [
        ("digestID", digestID), ("random", random), ("elementIdentifier", identifier), ("elementValue", value),
      ]
      let missing = members.filter { $0.1 == nil }.map(\.0)
      throw reader.fault(missing.joined(separator: ", "), "missing")
    }
    self.digestID = try reader.unsigned(digestID, "digestID")
    randomLength = try reader.bytes(random, "random").count
    self.identifier = try reader.text(identifier, "elementIdentifier")
    self.value = value
    leavesUnread = item.count != 4
  }
}

/// DeviceSigned (ISO/IEC 18013-5:2021, 8.3.2.1.2.2).
struct DeviceSigned: Sendable {
  struct Element: Sendable {
    let reference: ElementReference
    let value: CBORItem
  }

  /// DeviceNameSpacesBytes as received: the device signed these bytes.
  let nameSpacesBytes: ArraySlice<UInt8>
  let elements: [Element]
  let deviceSignature: CBORItem?
  let deviceMac: CBORItem?
  /// The tolerated deviations (`Deviation`), each with its member.
  let deviations: [String]

  init(parsing item: CBORItem) throws(MdocParseError) {
    let reader = StructureParser(code: .responseMalformed)
    _ = try reader.entries(item, ": it")
    let nameSpaces = try reader.member("nameSpaces", of: item)
    nameSpacesBytes = nameSpaces.encoded
    var elements: [Element] = []
    for (namespace, values) in try reader.entries(reader.embedded(nameSpaces, "nameSpaces"), "nameSpaces") {
      let name = try reader.text(namespace, "a name in nameSpaces")
      for (identifier, value) in try reader.entries(values, "the value of a name in nameSpaces") {
        let identifier = try reader.text(identifier, "an element identifier in nameSpaces")
        elements.append(Element(reference: ElementReference(name, identifier), value: value))
      }
    }
    self.elements = elements
    let deviceAuth = item[key: "deviceAuth"]
    var deviations: [String] = []
    if let deviceAuth { _ = try reader.entries(deviceAuth, "deviceAuth") }
    deviceSignature = deviceAuth.flatMap { Deviation.member("deviceSignature", of: $0, into: &deviations) }
    deviceMac = deviceAuth.flatMap { Deviation.member("deviceMac", of: $0, into: &deviations) }
    Deviation.noteFields(of: deviceSignature, "deviceSignature", into: &deviations)
    Deviation.noteFields(of: deviceMac, "deviceMac", into: &deviations)
    self.deviations = deviations.map { "deviceAuth.\($0)" }
  }
}
