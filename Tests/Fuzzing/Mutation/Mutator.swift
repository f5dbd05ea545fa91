import CLibFuzzer
import FuzzDriver

/// libFuzzer calls a mutation by this name if the program has one.
///
/// Random byte changes nearly always make a response malformed, since every item has a length and items are nested in
/// strings. Most inputs of targets that take CBOR are therefore mutated as CBOR.
@_cdecl("LLVMFuzzerCustomMutator")
func mutateInput(_ data: UnsafeMutablePointer<UInt8>?, _ size: Int, _ room: Int, _ seed: CUnsignedInt) -> Int {
  guard let data else { return 0 }
  var random = SeededRandom(seed)
  if let header = Mutator.header, size > header, random.below(16) > 0 {
    let input = Array(UnsafeBufferPointer(start: data + header, count: size - header))
    if random.below(16) == 0 {
      data[random.below(header)] = UInt8(random.below(256))
      return size
    }
    if let changed = CBORMutation.of(input, &random), header + changed.count <= room {
      (data + header).update(from: changed, count: changed.count)
      return header + changed.count
    }
  }
  return LLVMFuzzerMutate(data, size, room)
}

enum Mutator {
  /// The number of option bytes before the target's CBOR; nil if it takes other inputs.
  fileprivate static let header = Driver.target.flatMap(FuzzTargets.named)?.choicesBeforeCBOR

  /// libFuzzer's mutation of a part of an input. It needs room for at least one byte.
  static func mutate(_ bytes: [UInt8], room: Int) -> [UInt8] {
    var output = bytes + [UInt8](repeating: 0, count: max(1, room) - bytes.count)
    let size = output.withUnsafeMutableBufferPointer { LLVMFuzzerMutate($0.baseAddress, bytes.count, $0.count) }
    return Array(output.prefix(size))
  }
}

/// Numbers that follow from libFuzzer's seed, so that a run can be repeated (xorshift).
struct SeededRandom {
  private var state: UInt64

  init(_ seed: CUnsignedInt) { state = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15 | 1 }

  mutating func below(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(truncatingIfNeeded: state >> 33) % bound
  }
}
