import Base
import CBOR
import Glibc
import Testing

/// Keys with equal values are the same, regardless of their encoding (RFC 8949, 5.6.1).
@Suite struct DuplicateKeyTests {
  /// Two encodings of the same key.
  static let same: [(String, String)] = [
    ("01", "01"), ("01", "1801"), ("1801", "1b0000000000000001"), ("20", "3800"), ("3903e7", "3b00000000000003e7"),
    ("6161", "780161"), ("626162", "7f61616162ff"), ("7f626162ff", "7f616160 6162ff"), ("60", "7fff"),
    ("420102", "5f41014102ff"), ("40", "5fff"), ("4101", "590001 01"),
    ("f4", "f4"), ("f5", "f5"), ("f6", "f6"), ("f7", "f7"),
    ("f93c00", "fb3ff0000000000000"), ("f93c00", "fa3f800000"), ("f97e00", "f97e00"), ("f97c00", "fb7ff0000000000000"),
    ("820102", "820102"), ("820102", "9f0102ff"), ("820102", "82180118 02"), ("80", "9fff"),
    ("a10102", "bf0102ff"), ("a2010203 04", "a203040102"), ("a2616101 616202", "bf6162026161 01ff"), ("a0", "bfff"),
    ("c101", "d80101"), ("d8184101", "d8185801 01"), ("d8184101", "d8185f4101ff"), ("82a0a0", "82bfff a0"),
  ]

  /// Keys that look alike but differ.
  static let different: [(String, String)] = [
    ("01", "20"), ("01", "f93c00"), ("01", "6131"), ("4161", "6161"), ("00", "f4"), ("00", "f6"), ("f4", "f5"),
    ("f6", "f7"), ("6161", "6141"), ("62c3bc", "6375cc88"), ("f90000", "f98000"), ("fa3dcccccd", "fb3fb999999999999a"),
    ("80", "a0"), ("820102", "820201"), ("8101", "820101"), ("a10102", "a10201"), ("a10102", "a10103"),
    ("a201020304", "a201040302"), ("c101", "c201"), ("c101", "01"), ("8101", "01"), ("40", "60"), ("8140", "8160"),
    ("6161", "626161"), ("828080", "81820000"),
  ]

  /// Other keys around the pair: none, and enough that keys are compared by hash.
  static let fillers: [[String]] = [[], (0..<20).map { Hex.encode([0x19, 0x10, $0]) }]

  @Test(arguments: same, fillers)
  func refusesAKeyThatRepeatsAnother(pair: (String, String), filler: [String]) {
    for (first, second) in [pair, (pair.1, pair.0)] {
      #expect(refusal(map([first] + filler + [second])) == .cborDuplicateKey)
      #expect(refusal(indefinite([first] + filler + [second])) == .cborDuplicateKey)
      #expect(refusal([0x81] + map(filler + [first, second])) == .cborDuplicateKey)
    }
  }

  @Test(arguments: different, fillers)
  func keepsKeysApartThatAreNotTheSame(pair: (String, String), filler: [String]) {
    #expect(refusal(map([pair.0] + filler + [pair.1])) == nil)
    #expect(refusal(indefinite([pair.1] + filler + [pair.0])) == nil)
  }

  @Test(arguments: [7, 8, 9, 10, 200])
  func findsTheRepetitionAtEveryPlace(count: Int) {
    for repeated in stride(from: 0, to: count - 1, by: max(1, count / 10)) {
      var keys = (0..<count).map { Hex.encode([0x19, UInt8($0 / 256), UInt8($0 % 256)]) }
      #expect(refusal(map(keys)) == nil)
      keys[count - 1] = keys[repeated]
      #expect(refusal(map(keys)) == .cborDuplicateKey)
    }
  }

  @Test func findsRepetitionsInsideTag24AndInsideKeys() {
    #expect(refusal("d81845a201020103") == .cborDuplicateKey)
    #expect(refusal("d8185f43a20102420103ff") == .cborDuplicateKey)
    #expect(refusal("a1a20102010300") == .cborDuplicateKey)
    #expect(refusal("81a201020103") == .cborDuplicateKey)
  }

  @Test func saysWhichKeyRepeats() {
    #expect(throws: CBORError(.cborDuplicateKey, at: 5)) { try CBORItem(parsing: hex("a3 0102 0203 1801 04")) }
  }

  /// Eight keys in a map, each a map of eight keys: the time must not grow with the product.
  @Test func comparesLargeKeysInTimeThatGrowsWithTheirSize() {
    func key(_ depth: Int, _ salt: UInt64) -> CBORValue {
      guard depth > 0 else { return .unsigned(salt) }
      return .map((0..<8).map { (key: key(depth - 1, salt * 8 + $0), value: .null) })
    }
    let input = key(5, 1).encoded()
    let begun = processorSeconds()
    #expect(refusal(input, limits: CBORLimits(items: 200_000)) == nil)
    #expect(processorSeconds() - begun < 5)
  }

  /// Processor time of this thread.
  private func processorSeconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec
  }

  private func map(_ keys: [String]) -> [UInt8] {
    var output = hex("b9") + [UInt8(keys.count / 256), UInt8(keys.count % 256)]
    for key in keys { output += hex(key) + [0xf6] }
    return output
  }

  private func indefinite(_ keys: [String]) -> [UInt8] {
    [0xbf] + keys.flatMap { hex($0) + [0xf6] } + [0xff]
  }
}
