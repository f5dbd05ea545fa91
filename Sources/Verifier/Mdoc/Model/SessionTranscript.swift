import Base
import CBOR

/// The exact encoded bytes of a SessionTranscript (ISO/IEC 18013-5:2021, 9.1.5.1), made by us and never taken from
/// the answer that it authenticates.
public struct SessionTranscript: Sendable, Hashable {
  public let encoded: [UInt8]

  /// Bytes that must be an array of three items: device engagement, reader key (or null), handover.
  public init(encoded: [UInt8]) throws(MdocParseError) {
    do {
      guard try CBORItem(parsing: encoded).count == 3, encoded.first.map({ $0 >> 5 }) == 4 else {
        throw MdocParseError(.responseMalformed)
      }
    } catch let error as CBORError {
      throw MdocParseError(error)
    } catch {
      throw MdocParseError(.responseMalformed)
    }
    self.encoded = encoded
  }

  /// A transcript that one of our own protocols has just written.
  package init(written value: CBORValue) { encoded = value.encoded() }

  /// SessionTranscriptBytes: `#6.24(bstr .cbor SessionTranscript)`.
  public var taggedBytes: [UInt8] { CBORValue.tagged(24, .bytes(encoded)).encoded() }
}

/// It holds the session's nonce: neither logs nor error messages are to show it.
extension SessionTranscript: CustomStringConvertible, CustomReflectable {
  public var description: String { "SessionTranscript(\(encoded.count) bytes)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
