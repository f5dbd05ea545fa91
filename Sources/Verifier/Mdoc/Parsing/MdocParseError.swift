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

  package init(_ code: Code, _ detail: String? = nil, document: Int? = nil) {
    self.code = code
    self.detail = detail
    self.document = document
  }

  init(_ error: CBORError) { self.init(error.code, "at byte \(error.offset)") }

  /// The fault of bytes that are no CBOR: what they are, if that is recognized, or where they go wrong.
  package init(_ error: CBORError, in bytes: [UInt8], for expected: String) {
    self.init(error.code, Recognition.mistake(bytes, for: expected) ?? "at byte \(error.offset)")
  }

  /// The check that failed, for a report.
  public var check: Check { Check(code, .failed, detail: detail) }

  /// The same fault, with `place`, the member or item around it, put before its path.
  func inside(_ place: String, document: Int? = nil) -> MdocParseError {
    let joined = detail.map { $0.first == "[" || $0.first == ":" ? place + $0 : "\(place).\($0)" }
    return MdocParseError(code, joined ?? place, document: self.document ?? document)
  }
}

extension CBORItem {
  /// An item that should be the named structure (`Recognition`).
  package init(parsing bytes: [UInt8], for expected: String) throws(MdocParseError) {
    do throws(CBORError) {
      try self.init(parsing: bytes)
    } catch {
      throw MdocParseError(error, in: bytes, for: expected)
    }
  }
}

/// Reads members of CBOR structures. A missing member or a wrong shape gives one error, which names the member.
package struct StructureParser {
  /// The code for a member that is missing or of another type.
  let code: Code

  package init(code: Code) { self.code = code }

  /// Refuses an item that is recognized as another structure.
  package func expect(_ expected: String, _ item: CBORItem) throws(MdocParseError) {
    if let mistake = Recognition.mistake(item, for: expected) { throw MdocParseError(code, mistake) }
  }

  /// A byte string, of this length if it has one.
  package func bytes(
    _ key: String, of item: CBORItem, count: Int? = nil
  ) throws(MdocParseError) -> ArraySlice<UInt8> {
    let found = try bytes(member(key, of: item), key)
    if let count, found.count != count { throw fault(key, "a byte string of \(found.count) bytes, not \(count)") }
    return found
  }

  /// A member that must be there.
  package func member(_ key: String, of item: CBORItem) throws(MdocParseError) -> CBORItem {
    guard let value = item[key: key] else { throw MdocParseError(code, "\(key) is missing") }
    return value
  }

  package func text(_ key: String, of item: CBORItem) throws(MdocParseError) -> String {
    try text(member(key, of: item), key)
  }

  package func unsigned(_ key: String, of item: CBORItem) throws(MdocParseError) -> UInt64 {
    try unsigned(member(key, of: item), key)
  }

  // Each function takes the item to read, and its name for an error: a member's name, or words for an item of a list.

  package func entries(_ item: CBORItem, _ name: String) throws(MdocParseError) -> CBOREntries {
    guard let entries = item.entries else { throw mismatch(item, name, "no map") }
    return entries
  }

  package func elements(_ item: CBORItem, _ name: String) throws(MdocParseError) -> CBORChildren {
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

  package func fault(_ name: String, _ what: String) -> MdocParseError { MdocParseError(code, "\(name) is \(what)") }

  /// The error for an item of the wrong type. Reference tags (28, 29) and string-reference tags (25, 256) are not
  /// expanded; an item with one of them gets an error code of its own.
  private func mismatch(_ item: CBORItem, _ name: String, _ what: String) -> MdocParseError {
    guard let tag = item.tag, [25, 28, 29, 256].contains(tag) else { return fault(name, what) }
    return MdocParseError(.cborTagUnsupported, "\(name) has tag \(tag)")
  }
}
