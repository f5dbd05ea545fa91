import CBOR
import FuzzDriver

/// Any bytes as CBOR, with rules that cost little. `FuzzDecoder` is this target as a separate program.
struct DecodingTarget: FuzzTarget {
  static let name = Decoding.name
  static let dictionary = CBORTarget.dictionary
  static let longest: Int? = Decoding.longest

  let seeds: [[UInt8]]

  /// The corpus's responses are split into pieces, so that inputs are short and mutations reach all of them.
  init(_ material: Material) throws {
    var parts: Set<[UInt8]> = []
    for seed in try CBORTarget(material).seeds {
      guard let item = try? CBORItem(parsing: seed) else {
        parts.insert(Array(seed.suffix(Decoding.longest)))
        continue
      }
      Self.note(item, &parts)
    }
    seeds = Array(parts)
  }

  private static func note(_ item: CBORItem, _ parts: inout Set<[UInt8]>) {
    if item.encoded.count <= Decoding.longest { parts.insert(Array(item.encoded)) }
    if let inner = item.embedded { note(inner, &parts) }
    for element in item.elementList { note(element, &parts) }
    for (key, value) in item.entryList {
      note(key, &parts)
      note(value, &parts)
    }
  }

  func run(_ input: [UInt8]) { input.withUnsafeBufferPointer(Decoding.check) }
}
