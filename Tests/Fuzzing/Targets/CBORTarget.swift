import Base
import CBOR
import FuzzDriver

/// Any bytes as CBOR: parsed, read through every accessor, and described.
struct CBORTarget: FuzzTarget {
  static let name = "cbor"
  static let dictionary = [
    "\\xd8\\x18", "\\x5f", "\\x7f", "\\x9f", "\\xbf", "\\xff", "\\xfb", "\\x9a\\xff\\xff\\xff\\xff",
  ]

  let seeds: [[UInt8]]

  init(_ material: Material) throws { seeds = material.vectors.filter { !$0.input.isGenerated }.map(\.input.bytes) }

  func run(_ input: [UInt8]) {
    guard let item = try? CBORItem(parsing: input) else { return }
    require(item.encoded.elementsEqual(input), "an item is the whole input")
    var items = 0
    visit(item, depth: 1, &items)
    require(items <= Limits.cborItems, "no more items than the limit")
    require(refuses(Array(input.dropLast())), "an item without its last byte is none")
    require(refuses(input + [0]), "an item with a byte behind it is none")
    let shown = CBORDiagnostic(showsValues: true).describe(item)
    require(shown.utf8.count >= CBORDiagnostic().describe(item).utf8.count / 8, "hiding makes it no longer")
    // A part gives the same result when read by itself.
    for part in item.elementList {
      guard let again = try? CBORItem(parsing: Array(part.encoded)) else {
        fatalError("broken rule: a part of an item is an item")
      }
      require(
        CBORDiagnostic(showsValues: true).describe(again) == CBORDiagnostic(showsValues: true).describe(part),
        "a part of an item is the same item")
    }
  }

  private func refuses(_ bytes: [UInt8]) -> Bool { (try? CBORItem(parsing: bytes)) == nil }

  private func visit(_ item: CBORItem, depth: Int, _ count: inout Int) {
    count += 1
    require(depth <= Limits.cborDepth * 2 + 2, "no deeper than the limit")
    let kinds = [
      item.unsigned != nil, item.negativeArgument != nil, item.bytes != nil, item.text != nil, item.bool != nil,
      item.double != nil, item.isNull, item.tag != nil, item.elements != nil, item.entries != nil,
      item.kind == .undefined,
    ]
    require(kinds.count { $0 } == 1, "an item is of one kind")
    if let text = item.text { require(item.isText(text), "a text is itself") }
    if let integer = item.integer {
      require((integer < 0) == (item.negativeArgument != nil), "integers keep their sign")
      require((try? CBORItem(parsing: CBORValue.integer(integer).encoded()))?.integer == integer, "written and read")
    }
    if let embedded = item.embedded { return visit(embedded, depth: depth + 1, &count) }
    if let tag = item.tag, let content = item.content(ofTag: tag) { visit(content, depth: depth + 1, &count) }
    for element in item.elementList { visit(element, depth: depth + 1, &count) }
    var keys: Set<[UInt8]> = []
    for (key, value) in item.entryList {
      require(keys.insert(Array(key.encoded)).inserted, "a key stands once")
      if let name = key.text { require(item[key: name]?.startOffset == value.startOffset, "a value is found by name") }
      if let label = key.integer { require(item[label: label]?.startOffset == value.startOffset, "and by label") }
      visit(key, depth: depth + 1, &count)
      visit(value, depth: depth + 1, &count)
    }
  }
}
