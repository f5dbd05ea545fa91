import Base
import TestSupport
import Testing

@Suite struct Base64Tests {
  /// RFC 4648, 10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func followsTheExamplesOfTheRFC(plain: String, encoded: String) {
    let urlSafe = String(encoded.prefix { $0 != "=" })
    #expect(Base64.encode(plain.utf8) == encoded)
    #expect(Base64.decode(encoded) == Array(plain.utf8))
    #expect(Base64.encodeURLSafe(plain.utf8) == urlSafe)
    #expect(Base64.decodeURLSafe(urlSafe) == Array(plain.utf8))
    #expect(Base64.decodeEither(encoded) == Array(plain.utf8))
    #expect(Base64.decodeEither(urlSafe) == Array(plain.utf8))
  }

  @Test func usesTheTwoAlphabets() {
    #expect(Base64.encode([0xfb, 0xef, 0xff]) == "++//")
    #expect(Base64.encodeURLSafe([0xfb, 0xef, 0xff]) == "--__")
    #expect(Base64.decode("++//") == [0xfb, 0xef, 0xff])
    #expect(Base64.decodeURLSafe("--__") == [0xfb, 0xef, 0xff])
  }

  @Test(arguments: [
    // Padding absent, short, long, early or without data.
    "Zg", "Zg=", "Zg===", "Zm8", "Zm8==", "Zm9v=", "Zm9v==", "Zm9v====", "Zg==Zg==", "Z===", "====", "=", "Z=g=",
    "=Zg=", "Zg==Zm9v",
    // One character over.
    "Z", "Zm9vY",
    // White space and other characters.
    " Zg==", "Zg==\n", "Zm9v\r\nYmFy", "Zm 9v", "Zm9v\t", "Zm9v\0", "Zm9é", "Zm9v!", "Zm9.", "Ｚm9v", "\u{feff}Zm9v",
    // The other alphabet.
    "--__", "-+/_",
    // Bits of the last character that belong to no byte.
    "Zh==", "Zm9=", "Z/==", "Zm+=",
  ])
  func refusesAllButTheOneText(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test(arguments: [
    "Zg==", "Zm8=", "Zg=", "=", "Z", "Zm9vY", "++//", "-+__", "Zm9v ", "\nZm9v", "Zm\n9v", "Zm9v\0", "Zm9é", "Zh",
    "Zm9", "Z_", "Zm-",
  ])
  func refusesAllButTheOneURLSafeText(text: String) {
    #expect(Base64.decodeURLSafe(text) == nil)
  }

  @Test(arguments: ["-+__", "Zg=", "Z", "Zm9v\n", "Zh==", "Zh", "-_=="])
  func refusesInEitherAlphabetWhatBothRefuse(text: String) {
    #expect(Base64.decodeEither(text) == nil)
  }

  @Test func hasOneTextForEveryByteString() {
    var generator = SeededGenerator(seed: 2)
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_ ".utf8)
    var broken: [String] = []
    for _ in 0..<20_000 {
      let bytes = generator.bytes(Int.random(in: 0...20, using: &generator))
      if Base64.decode(Base64.encode(bytes)) != bytes { broken.append(Hex.encode(bytes)) }
      if Base64.decodeURLSafe(Base64.encodeURLSafe(bytes)) != bytes { broken.append(Hex.encode(bytes)) }
      let text = String(
        decoding: (0..<Int.random(in: 0...9, using: &generator)).map { _ in
          alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
        }, as: UTF8.self)
      if let decoded = Base64.decode(text), Base64.encode(decoded) != text { broken.append(text) }
      if let decoded = Base64.decodeURLSafe(text), Base64.encodeURLSafe(decoded) != text { broken.append(text) }
    }
    #expect(broken == [])
  }
}

@Suite struct HexTests {
  @Test func writesLowerCaseAndReadsBothWithWhiteSpace() {
    #expect(Hex.encode([0x00, 0x0f, 0xa5, 0xff]) == "000fa5ff")
    #expect(Hex.decode("000fA5Ff") == [0x00, 0x0f, 0xa5, 0xff])
    #expect(Hex.decode(" 00 0f\r\n\ta5ff\n") == [0x00, 0x0f, 0xa5, 0xff])
    #expect(Hex.decode("") == [])
    #expect(Hex.decode(Hex.encode(Array(0...255))) == Array(0...255))
  }

  @Test(arguments: ["0", "000", "0g", "0x00", "00,00", "0-", "０0", "00\0", "00\u{a0}"])
  func refusesOddDigitsAndOtherCharacters(text: String) {
    #expect(Hex.decode(text) == nil)
  }
}
