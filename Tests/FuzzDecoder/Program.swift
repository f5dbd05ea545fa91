import FuzzDriver

/// The target `cbor-decode` by itself: what is not linked is neither counted nor in the way.
@main struct Program {
  static func main() {
    guard Driver.target == Decoding.name else {
      Driver.fail("usage: FuzzDecoder \(Decoding.name) [libFuzzer's arguments]", status: 64)
    }
    Driver.fuzz(["-max_len=\(Decoding.longest)"], Decoding.check)
  }
}
