import Base
import CBOR

/// The reason why bytes could not be read as the expected structure.
public struct MdocParseError: Error, Sendable, Hashable {
  public let code: Code
  /// The index of the malformed document; nil if the fault is in no document.
  public let document: Int?
  /// The faulty member or item, as a path of the standard's names and of indices: `documents[0].docType is missing`.
  /// The path never contains a name that a wallet chose. Nil if the bytes as a whole are faulty.
  public let detail: String?

  package init(_ code: Code, _ detail: String? = nil, document: Int? = nil) {
    self.code = code
    self.detail = detail
    self.document = document
  }

  /// The fault of bytes that are not CBOR: the recognized form, or the offset of the fault.
  package init(_ error: CBORError, in bytes: [UInt8], for expected: String) {
    self.init(error.code, Recognition.mistake(bytes, for: expected) ?? "at byte \(error.offset)")
  }

  /// The same fault, described by the recognized form (`Recognition`) if there is one. Recognition is attempted only
  /// after reading has failed. It costs more than reading, and rejects nothing itself.
  package func explained(_ mistake: String?) -> MdocParseError {
    mistake.map { MdocParseError(code, $0, document: document) } ?? self
  }

  public var check: Check { Check(code, .failed, detail: detail) }

  /// The same fault, with the enclosing member or item prepended to its path.
  fileprivate func inside(_ member: String, document: Int?) -> MdocParseError {
    let joined = detail.map { $0.first == "[" || $0.first == ":" ? member + $0 : "\(member).\($0)" }
    return MdocParseError(code, joined ?? member, document: self.document ?? document)
  }
}

extension CBORItem {
  /// Reads an item that should be this structure (`Recognition`).
  package init(parsing bytes: [UInt8], for expected: String) throws(MdocParseError) {
    do throws(CBORError) {
      try self.init(parsing: bytes)
    } catch {
      throw MdocParseError(error, in: bytes, for: expected)
    }
  }
}

/// Reads members of CBOR structures. The error for a missing or malformed member states the member.
package struct StructureParser {
  /// The code for a member that is missing or has another type.
  let code: Code

  package init(code: Code) { self.code = code }

  /// Rejects an item that is recognized as another structure.
  package func expect(_ expected: String, _ item: CBORItem) throws(MdocParseError) {
    if let mistake = Recognition.mistake(item, for: expected) { throw MdocParseError(code, mistake) }
  }

  /// Reads a byte string, of this length if a length is given.
  package func bytes(
    _ key: String, of item: CBORItem, count: Int? = nil
  ) throws(MdocParseError) -> ArraySlice<UInt8> {
    let found = try bytes(member(key, of: item), key)
    if let count, found.count != count { throw fault(key, "a byte string of \(found.count) bytes, not \(count)") }
    return found
  }

  /// A required member.
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

  // The name in these functions appears in errors. It is a member's name, or a phrase for an item of a list.

  package func entries(_ item: CBORItem, _ name: String) throws(MdocParseError) -> CBOREntries {
    guard let entries = item.entries else { throw mismatch(item, name, "not a map") }
    return entries
  }

  package func elements(_ item: CBORItem, _ name: String) throws(MdocParseError) -> CBORChildren {
    guard let elements = item.elements else { throw mismatch(item, name, "not an array") }
    return elements
  }

  func text(_ item: CBORItem, _ name: String) throws(MdocParseError) -> String {
    guard let text = item.text else { throw mismatch(item, name, "not a text string") }
    return text
  }

  func unsigned(_ item: CBORItem, _ name: String) throws(MdocParseError) -> UInt64 {
    guard let number = item.unsigned else { throw mismatch(item, name, "not an unsigned integer") }
    return number
  }

  func bytes(_ item: CBORItem, _ name: String) throws(MdocParseError) -> ArraySlice<UInt8> {
    guard let bytes = item.bytes else { throw mismatch(item, name, "not a byte string") }
    return bytes
  }

  /// The item inside `#6.24(bstr .cbor …)`.
  func embedded(_ item: CBORItem, _ name: String) throws(MdocParseError) -> CBORItem {
    guard let content = item.embedded else { throw mismatch(item, name, "not a byte string with tag 24") }
    return content
  }

  /// Reads a part of the structure. The path of an error in the part begins with the enclosing member or item.
  func inside<Part>(
    _ member: @autoclosure () -> String, document: Int? = nil, _ read: () throws(MdocParseError) -> Part
  ) throws(MdocParseError) -> Part {
    do throws(MdocParseError) {
      return try read()
    } catch {
      throw error.inside(member(), document: document)
    }
  }

  /// Whether the map has any member besides these names. Such a member is not read.
  static func leavesUnread(_ item: CBORItem?, but names: String...) -> Bool {
    guard let item, let count = item.count else { return false }
    return count > names.count { item[key: $0] != nil }
  }

  package func fault(_ name: String, _ what: String) -> MdocParseError { MdocParseError(code, "\(name) is \(what)") }

  /// Reference tags (28, 29) and string-reference tags (25, 256) are not expanded. They have a separate error code.
  private func mismatch(_ item: CBORItem, _ name: String, _ what: String) -> MdocParseError {
    guard let tag = item.tag, [25, 28, 29, 256].contains(tag) else { return fault(name, what) }
    return MdocParseError(.cborTagUnsupported, "\(name) has tag \(tag)")
  }
}
