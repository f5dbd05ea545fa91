/// A reader of external bytes, with the rules that hold for any bytes.
///
/// An input comes from the corpus (`seeds`), or libFuzzer has derived it from such an input. Options such as strictness
/// are in the input's first bytes, so that they are fuzzed too.
protocol FuzzTarget: Sendable {
  static var name: String { get }
  /// Words that mutations would hardly find.
  static var dictionary: [String] { get }
  /// The number of option bytes before the CBOR, which is mutated as CBOR; nil for other inputs.
  static var choicesBeforeCBOR: Int? { get }
  /// The maximum number of bytes of an input; nil to use the size of the seeds.
  static var longest: Int? { get }

  init(_ material: Material) throws

  var seeds: [[UInt8]] { get throws }

  /// Ends the process if a rule is broken.
  func run(_ input: [UInt8])
}

extension FuzzTarget {
  static var choicesBeforeCBOR: Int? { nil }
  static var longest: Int? { nil }

  /// libFuzzer's options for this target.
  static var options: [String] {
    let length = longest.map { ["-max_len=\($0)"] } ?? []
    // After five changes hardly any response is still a response, and the small inputs that libFuzzer prefers end
    // early.
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

/// The first bytes of an input are options; missing bytes count as zero.
struct Choices {
  private var rest: ArraySlice<UInt8>

  init(_ input: [UInt8]) { rest = input[...] }

  mutating func byte() -> Int { rest.popFirst().map(Int.init) ?? 0 }

  /// The purpose of the options.
  var bytes: [UInt8] { Array(rest) }
}
