import Longfellow

/// Both circuits' inputs for one document.
struct MdocWitness {
  private(set) var hash: HashWitness
  private(set) var signature: SignatureWitness
  /// The numbers that the tags bind.
  private let shared: [[UInt8]]

  init(
    _ document: ProvableDocument, _ request: ProverRequest, for known: KnownCircuit, keys: [FieldGF128]
  ) throws(ProverError) {
    guard request.elements.count == known.elements else { throw .elementCount }
    guard Self.isTimestamp(request.timestamp) else { throw .timestampMalformed }
    guard Set(request.elements.map(\.identifier)).count == known.elements else { throw .identifierRepeated }
    guard (1...255).contains(document.documentType.utf8.count) else { throw .documentTypeLength }
    let issuer = try IssuerFacts(document.issuerAuth, timestamp: request.timestamp)
    var elements: [ElementFacts] = []
    for element in request.elements {
      elements.append(try ElementFacts(element, of: document, issuer: issuer, version: known.version))
    }
    shared = SignatureWitness.sharedNumbers(issuer)
    hash = try HashWitness(request, issuer: issuer, elements: elements, version: known.version, keys: keys)
    signature = try SignatureWitness(document, request, issuer: issuer, keys: keys)
  }

  /// True for the form `0000-00-00T00:00:00Z`. The circuit compares timestamps as text, so the day need not exist.
  private static func isTimestamp(_ text: String) -> Bool {
    let form = Array("0000-00-00T00:00:00Z".utf8)
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return text.utf8.count == form.count
      && zip(text.utf8, form).allSatisfy { $1 == UInt8(ascii: "0") ? digits.contains($0) : $0 == $1 }
  }

  /// Sets the tags of each number's halves, the low half first. A tag is (verifier's key + prover's key)·half.
  mutating func setTags(keys: [FieldGF128], verifierKey: FieldGF128) -> [FieldGF128] {
    let halves = shared.flatMap { number in
      let bytes = Array(number.reversed())
      return [FieldGF128(Array(bytes.prefix(16))), FieldGF128(Array(bytes.suffix(16)))]
    }
    let tags = zip(keys, halves).map { ($0 + verifierKey) * $1 }
    hash.set(tags: tags + [verifierKey])
    signature.set(tags: tags + [verifierKey])
    return tags
  }
}

/// A circuit's input wires, in their order.
struct Wires<F: ProverField> {
  private(set) var values: [F] = []

  var count: Int { values.count }

  mutating func append(_ value: F) { values.append(value) }

  mutating func append(contentsOf more: [F]) { values += more }

  /// Appends the bits of each byte, the lowest bit first.
  mutating func append(bits bytes: some Sequence<UInt8>) {
    for byte in bytes { append(bits: Int(byte), 8) }
  }

  /// Appends a number's lowest bits, the lowest bit first.
  mutating func append(bits number: Int, _ count: Int) {
    for bit in 0..<count { values.append((number >> bit) & 1 == 1 ? .one : .zero) }
  }

  mutating func replace(at index: Int, with more: [F]) {
    values.replaceSubrange(index..<(index + more.count), with: more)
  }
}
