import Base
import CBOR

/// SessionEstablishment or SessionData (ISO/IEC 18013-5:2021, 9.1.1.4): what device and reader send each other.
public struct SessionMessage: Sendable {
  /// EReaderKeyBytes without tag 24; only the reader's first message has it.
  public let readerKey: [UInt8]?
  /// The encrypted request or response.
  public let data: [UInt8]?
  public let status: Status?

  /// Table 20.
  public enum Status: Sendable, Hashable {
    case sessionEncryptionError, cborDecodingError, sessionTermination
    case other(UInt64)

    init(_ number: UInt64) {
      switch number {
      case 10: self = .sessionEncryptionError
      case 11: self = .cborDecodingError
      case 20: self = .sessionTermination
      default: self = .other(number)
      }
    }

    /// As the report names it.
    var name: String {
      switch self {
      case .sessionEncryptionError: "10, session encryption error"
      case .cborDecodingError: "11, CBOR decoding error"
      case .sessionTermination: "20, session termination"
      case .other(let number): "\(number)"
      }
    }
  }

  /// Why bytes are no such message: a `cbor.*` code, or `proximity.session_data_malformed`.
  public struct Fault: Error, Sendable, Hashable {
    public let code: Code
  }

  /// - Parameter bytes: a map with `data`, `status` or both; other members are ignored.
  public init(parsing bytes: [UInt8]) throws(Fault) {
    let item: CBORItem
    do throws(CBORError) {
      item = try CBORItem(parsing: bytes)
    } catch {
      throw Fault(code: error.code)
    }
    let data = item[key: "data"]
    let status = item[key: "status"]
    let readerKey = item[key: "eReaderKey"]
    guard data != nil || status != nil, data == nil || data?.kind == .bytes, status == nil || status?.unsigned != nil,
      readerKey == nil || readerKey?.embedded != nil
    else { throw Fault(code: .sessionDataMalformed) }
    self.readerKey = readerKey?.content(ofTag: 24)?.bytes.map { Array($0) }
    self.data = data?.bytes.map { Array($0) }
    self.status = status?.unsigned.map { Status($0) }
  }
}
