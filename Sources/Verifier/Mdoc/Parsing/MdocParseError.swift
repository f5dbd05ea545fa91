import Base
import CBOR

/// Why bytes could not be read as what they should be.
public struct MdocParseError: Error, Sendable, Hashable {
  public let code: Code
  /// The index of the document that has the fault; nil if the fault is in no document.
  public let document: Int?
  /// The member or item at fault, as a path of the standard's names and of indices: `documents[0].docType is missing`.
  /// It holds no name that a wallet chose. Nil if the bytes as a whole are at fault.
  public let detail: String?

  init(_ code: Code, _ detail: String? = nil, document: Int? = nil) {
    self.code = code
    self.detail = detail
    self.document = document
  }

  init(_ error: CBORError) { self.init(error.code, "at byte \(error.offset)") }

  /// The check that failed, for a report.
  public var check: Check { Check(code, .failed, detail: detail) }

  /// The same fault, with `place`, the member or item around it, put before its path.
  func inside(_ place: String, document: Int? = nil) -> MdocParseError {
    let joined = detail.map { $0.first == "[" || $0.first == ":" ? place + $0 : "\(place).\($0)" }
    return MdocParseError(code, joined ?? place, document: self.document ?? document)
  }
}

extension CBORItem {
  /// Nil, with the fault noted, for bytes that are no well-formed item.
  package init?(parsing bytes: [UInt8], into checks: inout CheckList) {
    do throws(CBORError) {
      try self.init(parsing: bytes)
    } catch {
      checks.failed(error.code)
      return nil
    }
  }
}

/// Reads members of CBOR structures. A missing member or a wrong shape gives one error, which names the member.
struct StructureParser {
  /// The code for a member that is missing or of another type.
  let code: Code

  /// A member that must be there.
  func member(_ key: String, of item: CBORItem) throws(MdocParseError) -> CBORItem {
    guard let value = item[key: key] else { throw MdocParseError(code, "\(key) is missing") }
    return value
  }

  func text(_ key: String, of item: CBORItem) throws(MdocParseError) -> String {
    try text(member(key, of: item), key)
  }

  func unsigned(_ key: String, of item: CBORItem) throws(MdocParseError) -> UInt64 {
    try unsigned(member(key, of: item), key)
  }

  // Each function takes the item to read, and its name for an error: a member's name, or words for an item of a list.

  func entries(_ item: CBORItem, _ name: String) throws(MdocParseError) -> CBOREntries {
    guard let entries = item.entries else { throw mismatch(item, name, "no map") }
    return entries
  }

  func elements(_ item: CBORItem, _ name: String) throws(MdocParseError) -> CBORChildren {
    guard let elements = item.elements else { throw mismatch(item, name, "no array") }
    return elements
  }

  func text(_ item: CBORItem, _ name: String) throws(MdocParseError) -> String {
    guard let text = item.text else { throw mismatch(item, name, "no text string") }
    return text
  }

  func unsigned(_ item: CBORItem, _ name: String) throws(MdocParseError) -> UInt64 {
    guard let number = item.unsigned else { throw mismatch(item, name, "no unsigned integer") }
    return number
  }

  func bytes(_ item: CBORItem, _ name: String) throws(MdocParseError) -> ArraySlice<UInt8> {
    guard let bytes = item.bytes else { throw mismatch(item, name, "no byte string") }
    return bytes
  }

  /// The item inside `#6.24(bstr .cbor …)`.
  func embedded(_ item: CBORItem, _ name: String) throws(MdocParseError) -> CBORItem {
    guard let content = item.embedded else { throw mismatch(item, name, "no byte string with tag 24") }
    return content
  }

  /// Whether the map has another member than these, which nobody reads.
  static func leavesUnread(_ item: CBORItem?, but names: String...) -> Bool {
    guard let item, let count = item.count else { return false }
    return count > names.count { item[key: $0] != nil }
  }

  func fault(_ name: String, _ what: String) -> MdocParseError { MdocParseError(code, "\(name) is \(what)") }

  /// The error for an item of the wrong type. Reference tags (28, 29) and string-reference tags (25, 256) are not
  /// expanded; an item with one of them gets an error code of its own.
  private func mismatch(_ item: CBORItem, _ name: String, _ what: String) -> MdocParseError {
    guard let tag = item.tag, [25, 28, 29, 256].contains(tag) else { return fault(name, what) }
    return MdocParseError(.cborTagUnsupported, "\(name) has tag \(tag)")
  }
}
