/// Where a wallet sends the person afterwards: an address of the relying party's own.
enum RedirectURI {
  /// The origin that the address begins with, byte by byte; nil where it is none of `origins` or no absolute address
  /// without a fragment (RFC 3986, 4.3).
  static func origin(of address: String, among origins: [String]) -> String? {
    guard isAbsolute(address) else { return nil }
    // After the origin comes a path, a query or nothing: `https://shop.example@evil.example` is no address of the shop.
    return origins.first { origin in
      address == origin || address.hasPrefix(origin + "/") || address.hasPrefix(origin + "?")
    }
  }

  /// The characters of RFC 3986, 2, and no `#`.
  static func isAbsolute(_ address: String) -> Bool {
    let others = Array("-._~:/?[]@!$&'()*+,;=%".utf8)
    return address.contains("://")
      && address.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"):
          true
        default: others.contains(byte)
        }
      }
  }
}
