import CBOR
import Mdoc

/// The SessionTranscript that an answer is to be verified over: ours, not the wallet's.
enum TranscriptFile {
  static func transcript(_ path: String) throws(Failure) -> SessionTranscript {
    let file = WireBytes(try FileAccess.read(path, purpose: "transcript"))
    guard let item = try? CBORItem(parsing: file.bytes) else { throw .unreadable("transcript \(path): is not CBOR") }
    // Both forms are about: the array, and SessionTranscriptBytes with the array inside tag 24.
    let encoded = item.embedded.map { Array($0.encoded) } ?? file.bytes
    do throws(MdocParseError) {
      return try SessionTranscript(encoded: encoded)
    } catch {
      throw .unreadable("transcript \(path): is not an array of device engagement, reader key and handover")
    }
  }
}
