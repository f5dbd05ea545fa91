import CBOR
import Primitives

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

  /// - Throws: a `cbor.*`, `mdoc.response.*` or `mdoc.item.*` code for bytes that are not a DeviceResponse.
  public init(parsing bytes: [UInt8], limits: CBORLimits = CBORLimits()) throws(MdocParseError) {
    let item: CBORItem
    do {
      item = try CBORItem(parsing: bytes, limits: limits)
    } catch {
      throw MdocParseError(error)
    }
    try self.init(parsing: item)
  }

  /// Reads a DeviceResponse that is part of a larger item.
  public init(parsing item: CBORItem) throws(MdocParseError) {
    let reader = StructureReader(code: .responseMalformed)
    _ = try reader.entries(item)
    version = try reader.text(reader.member("version", of: item))
    status = try reader.unsigned(reader.member("status", of: item))
    documentErrors = try item[key: "documentErrors"].map(DeviceResponse.docTypes) ?? []
    var documents: [Document] = []
    if let list = item[key: "documents"] {
      for element in try reader.elements(list) {
        do {
          documents.append(try Document(parsing: element))
        } catch {
          throw MdocParseError(error.code, document: documents.count)
        }
        guard documents.count <= Limits.documents else { throw MdocParseError(.documentUnexpected) }
      }
    }
    self.documents = documents
  }

  private static func docTypes(inErrors item: CBORItem) throws(MdocParseError) -> [String] {
    let reader = StructureReader(code: .responseMalformed)
    var docTypes: [String] = []
    for map in try reader.elements(item) {
      for (docType, code) in try reader.entries(map) {
        guard code.integer != nil else { throw MdocParseError(.responseMalformed) }
        docTypes.append(try reader.text(docType))
      }
    }
    return docTypes
  }
}

extension DeviceResponse: CustomStringConvertible, CustomReflectable {
  public var description: String { "DeviceResponse(\(documents.count) documents, unverified)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
