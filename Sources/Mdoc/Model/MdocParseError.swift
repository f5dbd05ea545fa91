import CBOR
import Primitives

/// Why bytes could not be read as what they should be.
public struct MdocParseError: Error, Sendable, Hashable {
  public let code: Code
  /// The place of the document that holds the fault, where one does.
  public let document: Int?

  init(_ code: Code, document: Int? = nil) {
    self.code = code
    self.document = document
  }

  init(_ error: CBORError) { self.init(error.code) }
}

/// Reads members of CBOR structures, with one error for whatever has not the prescribed shape.
struct StructureReader {
  /// What a member that is missing or of another type is called.
  let code: Code

  func member(_ key: String, of item: CBORItem) throws(MdocParseError) -> CBORItem {
    guard let value = item[key: key] else { throw MdocParseError(code) }
    return value
  }

  func entries(_ item: CBORItem) throws(MdocParseError) -> CBOREntries {
    guard let entries = item.entries else { throw mismatch(item) }
    return entries
  }

  func elements(_ item: CBORItem) throws(MdocParseError) -> CBORChildren {
    guard let elements = item.elements else { throw mismatch(item) }
    return elements
  }

  func text(_ item: CBORItem) throws(MdocParseError) -> String {
    guard let text = item.text else { throw mismatch(item) }
    return text
  }

  func unsigned(_ item: CBORItem) throws(MdocParseError) -> UInt64 {
    guard let number = item.unsigned else { throw mismatch(item) }
    return number
  }

  func bytes(_ item: CBORItem) throws(MdocParseError) -> ArraySlice<UInt8> {
    guard let bytes = item.bytes else { throw mismatch(item) }
    return bytes
  }

  /// The item inside `#6.24(bstr .cbor …)`.
  func embedded(_ item: CBORItem) throws(MdocParseError) -> CBORItem {
    guard let content = item.embedded else { throw mismatch(item) }
    return content
  }

  /// Reference and string-reference tags are not expanded: they have a code of their own where structure matters.
  private func mismatch(_ item: CBORItem) -> MdocParseError {
    guard let tag = item.tag, [25, 28, 29, 256].contains(tag) else { return MdocParseError(code) }
    return MdocParseError(.cborTagUnsupported)
  }
}
