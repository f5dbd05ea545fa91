import Base
import FoundationEssentials

/// Values as what they stand for; a value of another form is a usage error that says what was expected.
extension ParsedArguments {
  /// A time, or the machine's clock where the option is absent.
  func time(_ option: Option) throws(Failure) -> Timestamp {
    guard let text = value(option) else {
      return Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970.rounded(.down)))
    }
    if let time = Timestamp(rfc3339: text) { return time }
    if let date = FullDate(text) { return Timestamp(date: date) }
    if let seconds = Int64(text), (0...253_402_300_799).contains(seconds) {
      return Timestamp(secondsSince1970: seconds)
    }
    throw .usage(
      "--\(option.name) is a time like 2026-11-20T10:00:00Z, a date or Unix seconds up to the year 9999, not \"\(text)\""
    )
  }

  func integer(_ option: Option, in range: ClosedRange<Int64>) throws(Failure) -> Int64 {
    let text = try required(option)
    guard let number = Int64(text), range.contains(number) else {
      throw .usage(
        "--\(option.name) is a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
    }
    return number
  }

  /// Bytes in hexadecimal, or nil where the option is absent.
  func hex(_ option: Option, length: ClosedRange<Int>) throws(Failure) -> [UInt8]? {
    try bytes(option, length: length, as: "hexadecimal", Hex.decode)
  }

  /// A nonce as the API gives it, in base64, or in hexadecimal: what could be both is hexadecimal.
  func nonce(_ option: Option) throws(Failure) -> [UInt8] {
    let length = Limits.shortestNonceBytes...Limits.appleNonceBytes
    let decode = { (text: String) in Hex.decode(text) ?? Base64.decodeEither(text) }
    return try bytes(option, length: length, as: "hexadecimal or base64", decode) ?? []
  }

  private func bytes(
    _ option: Option, length: ClosedRange<Int>, as encoding: String, _ decode: (String) -> [UInt8]?
  ) throws(Failure) -> [UInt8]? {
    guard let text = value(option) else { return nil }
    guard let bytes = decode(text) else { throw .usage("--\(option.name) is not \(encoding)") }
    guard length.contains(bytes.count) else {
      let count = bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
      throw .usage(
        "--\(option.name) has \(count); \(length.lowerBound) to \(length.upperBound) are needed")
    }
    return bytes
  }

  /// Seconds of allowed clock skew, at most a day.
  func clockSkew() throws(Failure) -> Int64 { try integer(.clockSkew, in: 0...86_400) }
}
