import Base
import Mock

/// Writes an answer and says what a verifier is to say of it.
enum MockOutput {
  static func save(
    _ answer: MockAnswer, made now: Timestamp, transcript: String? = nil, _ arguments: ParsedArguments,
    _ console: Console
  ) throws(Failure) {
    if let transcript { try FileAccess.write(answer.sessionTranscript, to: transcript) }
    try save(answer.bytes, answer.variant, made: now, transcript: transcript, arguments, console)
  }

  static func save(
    _ bytes: [UInt8], _ variant: MockVariant, made now: Timestamp, transcript: String? = nil,
    _ arguments: ParsedArguments, _ console: Console
  ) throws(Failure) {
    let path = try arguments.required(.out)
    try FileAccess.write(bytes, to: path)
    let codes = variant.codes.map(\.rawValue)
    if arguments.has(.json) {
      console.print(
        .members([
          "file": .string(path), "transcript": transcript.map { .string($0) },
          "bytes": .integer(Int64(bytes.count)), "variant": .string(variant.name),
          "codes": .array(codes.map { .string($0) }), "made_at": .integer(now.secondsSince1970),
        ]))
    } else {
      let verdict = codes.isEmpty ? "verifies" : "is refused with \(codes.joined(separator: ", "))"
      let clock = variant.needsFixedClock ? ", at \(now) exactly" : ""
      console.print(Printable.line("\(path): \(bytes.count) bytes, \(variant.name): \(verdict)\(clock)"))
    }
  }
}
