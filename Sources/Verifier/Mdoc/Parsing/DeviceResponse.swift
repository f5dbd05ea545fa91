import Base
import CBOR

/// A DeviceResponse (ISO/IEC 18013-5:2021, 8.3.2.1.2.2) as received.
///
/// It is opaque: nothing in it is verified, so nothing in it can be read outside this module. Only `MdocVerifier`
/// turns it into documents whose elements have accessors. Unknown map keys are ignored everywhere.
public struct DeviceResponse: Sendable {
  let version: String
  let status: UInt64
  let documents: [Document]
  /// The doc types under `documentErrors`.
  let documentErrors: [String]
  /// The second edition's ZkDocuments, which are read only if the request asks for proofs (`ZkDocument`).
  let zkDocuments: [CBORItem]
  /// The number of the second edition's encrypted documents, which are counted and not read.
  let encryptedDocuments: Int
  /// The slips that were read past (`Slip`), each with its member.
  let slips: [String]
  /// Whether something is in it that is never read: a member that no standard names, or an encrypted document.
  let leavesUnread: Bool

  /// - Throws: a `cbor.*`, `mdoc.response.*` or `mdoc.item.*` code for bytes that are not a DeviceResponse.
  public init(parsing bytes: [UInt8]) throws(MdocParseError) {
    try self.init(parsing: CBORItem(parsing: bytes, for: Recognition.deviceResponse))
  }

  /// Nil, with the fault noted, for bytes that are not a DeviceResponse.
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
    let reader = StructureParser(code: .responseMalformed)
    var slips: [String] = []
    try reader.expect(Recognition.deviceResponse, item)
    _ = try reader.entries(item, "the DeviceResponse")
    version = try reader.text("version", of: item)
    status = try reader.unsigned("status", of: item)
    let errors = Slip.member("documentErrors", of: item, into: &slips)
    Slip.noteIfEmpty("documentErrors", errors, into: &slips)
    documentErrors = try errors.map(DeviceResponse.docTypes) ?? []
    zkDocuments = try DeviceResponse.items(of: "zkDocuments", in: item, &slips)
    // Each gets a report of its own, whatever is in it.
    guard zkDocuments.count <= Limits.documents else {
      throw MdocParseError(.documentUnexpected, "more than \(Limits.documents) proofs")
    }
    encryptedDocuments = try DeviceResponse.items(of: "encryptedDocuments", in: item, &slips).count
    var documents: [Document] = []
    if let list = Slip.member("documents", of: item, into: &slips) {
      for element in try reader.elements(list, "documents") {
        do {
          documents.append(try Document(parsing: element))
        } catch {
          throw error.inside("documents[\(documents.count)]", document: documents.count)
        }
        guard documents.count <= Limits.documents else {
          throw MdocParseError(.documentUnexpected, "more than \(Limits.documents) documents")
        }
      }
    }
    self.documents = documents
    self.slips =
      slips
      + documents.enumerated().flatMap { index, document in
        document.slips.map { "documents[\(index)].\($0)" }
      }
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
        guard code.integer != nil else { throw reader.fault("a code in documentErrors", "no integer") }
        docTypes.append(try reader.text(docType, "a document type in documentErrors"))
      }
    }
    return docTypes
  }

  private static func items(
    of key: String, in item: CBORItem, _ slips: inout [String]
  ) throws(MdocParseError) -> [CBORItem] {
    guard let list = Slip.member(key, of: item, into: &slips) else { return [] }
    guard let items = list.elements else { throw StructureParser(code: .responseMalformed).fault(key, "no array") }
    return Array(items)
  }
}

extension DeviceResponse: CustomStringConvertible, CustomReflectable {
  public var description: String { "DeviceResponse(\(documents.count) documents, unverified)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Slips of wallets and issuers that are read past, with a warning.
///
/// A slip is a member that must be left out, but is there as null, undefined or empty, or the device's payload, which must
/// be detached, attached with the very bytes that are signed. It can only mean the same as leaving it out. Nothing else
/// is forgiven: no fault with two readings, no absence of what must be there, and in what the issuer signed nothing but
/// an `expectedUpdate` that says nothing.
enum Slip {
  /// The member; nil if it is left out. Null or undefined also give nil, and are noted as a slip.
  static func member(_ key: String, of item: CBORItem, into slips: inout [String]) -> CBORItem? {
    guard let value = item[key: key] else { return nil }
    guard let nothing = name(ofNothing: value) else { return value }
    slips.append("\(key) is \(nothing)")
    return nil
  }

  /// Notes a member that is there but empty, though it must not be (`{+ …}` and `[+ …]` in the standard's CDDL).
  static func noteIfEmpty(_ key: String, _ item: CBORItem?, into slips: inout [String]) {
    if item?.count == 0 { slips.append("\(key) is empty") }
  }

  /// Notes null or undefined in place of the unprotected header, which must be there even if it is empty (RFC 9052,
  /// 3), undefined in place of a detached payload, and a payload that must be detached. The device's authentication
  /// refuses one that is not what it signs.
  static func noteFields(
    of message: CBORItem?, _ name: String, isDetached: Bool = true, into slips: inout [String]
  ) {
    guard let fields = message?.elements.map(Array.init), fields.count == 4 else { return }
    if let nothing = self.name(ofNothing: fields[1]) { slips.append("\(name): the unprotected header is \(nothing)") }
    if fields[2].kind == .undefined { slips.append("\(name): the payload is undefined") }
    if isDetached, fields[2].kind == .bytes { slips.append("\(name): the payload is attached") }
  }

  private static func name(ofNothing item: CBORItem) -> String? {
    switch item.kind {
    case .null: "null"
    case .undefined: "undefined"
    default: nil
    }
  }
}
