import CBOR
import Cryptography

/// The facts that a proof needs about one shown element: its item, and the offsets of the item's parts.
struct ElementFacts {
  /// The tagged item.
  let item: [UInt8]
  /// The offset of the digest's CBOR head in the MSO.
  let digest: Int
  /// The offset of the element identifier's CBOR head in the item.
  let identifier: Int
  /// The item's four pairs in their order: the offset of each pair, and the length of its key and value.
  let pairs: [(start: Int, length: Int)]
  /// The indices of digestID, random, elementIdentifier and elementValue in `pairs`.
  let order: [Int]

  init(
    _ element: (identifier: String, value: [UInt8]), of document: ProvableDocument, issuer: IssuerFacts, version: Int
  ) throws(ProverError) {
    try Self.check(element, version: version)
    // Any namespace is allowed, since the proof does not show the namespace.
    let found = document.items.compactMap { Members($0) }.filter { $0.identifier == element.identifier }
    guard !found.isEmpty else { throw .elementMissing }
    guard let members = found.first(where: { $0.value.elementsEqual(element.value) }) else {
      throw .elementValueDiffers
    }
    item = members.item
    guard item.starts(with: [0xd8, 0x18, 0x58]), item.count > 4, item[4] == 0xa4, members.pairs.count == 4 else {
      throw .itemFormat
    }
    guard (56...119).contains(item.count) else { throw .itemLength }
    pairs = members.pairs
    order = ["digestID", "random", "elementIdentifier", "elementValue"].compactMap { members.keys.firstIndex(of: $0) }
    guard order.count == 4 else { throw .itemFormat }
    identifier = members.identifierOffset
    let text = CBORValue.text(element.identifier).encoded()
    guard item.dropFirst(identifier).starts(with: text) else { throw .itemFormat }
    if version == 6 {
      let pair = text + CBORValue.text("elementValue").encoded() + element.value
      guard item.dropFirst(identifier).starts(with: pair) else { throw .itemOrder }
    }
    digest = try issuer.offset(ofDigest: HashAlgorithm.sha256.hash(item))
  }

  /// Checks the element against the limits of the circuits and of Google's verifiers.
  private static func check(_ element: (identifier: String, value: [UInt8]), version: Int) throws(ProverError) {
    let length = element.identifier.utf8.count
    guard (1...(version == 6 ? 32 : 23)).contains(length) else { throw .identifierLength }
    guard element.value.count <= 64 else { throw .valueTooLong }
    if version == 6 {
      guard length + (length < 24 ? 1 : 2) + 13 + element.value.count <= 96 else { throw .valueTooLong }
    }
    guard let value = try? CBORItem(parsing: element.value) else { throw .valueNotSimple }
    switch value.kind {
    case .text, .bytes, .unsigned, .negative, .bool: break
    // A full date, and a date and time.
    case .tag where element.value.starts(with: [0xd9, 0x03, 0xec, 0x6a]): break
    case .tag where element.value.starts(with: [0xc0, 0x74]): break
    default: throw .valueNotSimple
    }
  }
}

/// The members of an IssuerSignedItem, with offsets in its tagged bytes.
private struct Members {
  let item: [UInt8]
  let identifier: String
  let identifierOffset: Int
  let value: ArraySlice<UInt8>
  private(set) var pairs: [(start: Int, length: Int)] = []
  private(set) var keys: [String] = []

  /// Nil if these are not the bytes of an item.
  init?(_ item: [UInt8]) {
    self.item = item
    guard let whole = try? CBORItem(parsing: item), let map = whole.embedded,
      let name = map[key: "elementIdentifier"], let identifier = name.text, let value = map[key: "elementValue"],
      let entries = map.entries
    else { return nil }
    self.identifier = identifier
    identifierOffset = name.startOffset
    self.value = value.encoded
    for (key, value) in entries {
      pairs.append((key.startOffset, key.encoded.count + value.encoded.count))
      keys.append(key.text ?? "")
    }
  }
}
