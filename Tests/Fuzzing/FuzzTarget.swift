/// Something that reads bytes from outside, with the rules that hold whatever the bytes are.
///
/// An input is one that the target made from the corpus (`seeds`) or what libFuzzer made of those. Options that are not
/// part of the bytes, such as strictness, stand in the input's first bytes, so that they are fuzzed as well.
protocol FuzzTarget: Sendable {
  static var name: String { get }
  /// Words that a mutation alone would hardly find.
  static var dictionary: [String] { get }
  /// How many bytes of choices stand before CBOR, which is then changed as such; nil where inputs are something else.
  static var choicesBeforeCBOR: Int? { get }
  /// How many bytes an input has at most; nil where what the seeds have decides.
  static var longest: Int? { get }

  init(_ material: Material) throws

  var seeds: [[UInt8]] { get throws }

  /// Ends the process where a rule is broken.
  func run(_ input: [UInt8])
}

extension FuzzTarget {
  static var choicesBeforeCBOR: Int? { nil }
  static var longest: Int? { nil }

  /// libFuzzer's options for this target.
  static var options: [String] {
    let length = longest.map { ["-max_len=\($0)"] } ?? []
    // After five changes hardly any answer is one still, and the small ones that libFuzzer prefers end early.
    let depth = ["-mutate_depth=2", "-keep_seed=1", "-reduce_inputs=0"]
    return length + (choicesBeforeCBOR == nil ? [] : depth)
  }
}

enum FuzzTargets {
  static let all: [any FuzzTarget.Type] = [
    CBORTarget.self, DecodingTarget.self, DeviceResponseTarget.self, AppleEnvelopeTarget.self, JWETarget.self,
    COSETarget.self, CertificateChainTarget.self, SignedListTarget.self, HTTPBodyTarget.self, CircuitTarget.self,
    ProofTarget.self,
  ]

  static func named(_ name: String) -> (any FuzzTarget.Type)? { all.first { $0.name == name } }
}

/// The first bytes of an input are choices; what is not there is zero.
struct Choices {
  private var rest: ArraySlice<UInt8>

  init(_ input: [UInt8]) { rest = input[...] }

  mutating func byte() -> Int { rest.popFirst().map(Int.init) ?? 0 }

  /// The purpose of the choices.
  var bytes: [UInt8] { Array(rest) }
}
