import FuzzDriver

/// The target `cbor-decode` by itself, so that only linked code is counted.
@main struct Program {
  static func main() {
    guard Driver.target == Decoding.name else {
      Driver.fail("usage: FuzzDecoder \(Decoding.name) [libFuzzer's arguments]", status: 64)
    }
    Driver.fuzz(["-max_len=\(Decoding.longest)"], Decoding.check)
  }
}
