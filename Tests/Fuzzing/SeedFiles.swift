import Base

@testable import Vectors

/// The seeds of every target as files, made from the corpus: `DIR/<target>/<number>`, and `DIR/<target>.dict`.
struct SeedFiles {
  let folder: String

  func write() throws {
    let folder = SuiteFolder(folder)
    let material = try Material()
    for type in FuzzTargets.all {
      let seeds = Set(try type.init(material).seeds.filter { $0.count <= type.longest ?? Self.largest })
      for (index, seed) in seeds.enumerated() { try folder.write(seed, to: "\(type.name)/\(index)") }
      let words = type.dictionary.map { "\"\(Self.escaped($0))\"\n" }.joined()
      try folder.write(Array(words.utf8), to: "\(type.name).dict")
      print("\(type.name): \(seeds.count) seeds")
    }
  }

  /// Larger inputs only slow every execution; the corpus itself has the largest responses.
  private static let largest = 16 << 10

  /// libFuzzer reads printable ASCII, and every other byte as `\x` and two digits.
  private static func escaped(_ word: String) -> String {
    word.utf8.reduce(into: "") { text, byte in
      let isPlain = (0x20..<0x7f).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
      text += isPlain ? String(UnicodeScalar(byte)) : "\\x" + Hex.encode([byte])
    }
  }
}
