import Base
import CLibCBOR

/// Builds the node tree, one libcbor streaming event at a time.
///
/// libcbor reads heads and finds the bounds of strings. It allocates nothing here. This decoder refuses duplicate keys,
/// trailing bytes, bad UTF-8, and excessive depth or counts.
///
/// Functions that run for each head are `mutating`, so that the decoder is passed by reference and not copied.
struct CBORDecoder {
  /// The input. Every index into the input is below `limit`. `limit` never exceeds the input's end.
  private let bytes: UnsafeBufferPointer<UInt8>
  private let limits: CBORLimits
  /// The nesting depth around this input if it is the content of a string; otherwise 0.
  private let outerDepth: Int
  private var position: Int
  private var limit: Int
  private var nodes: [CBORNode] = []
  /// The innermost open container, and the containers around it, outermost first.
  private var top = Frame(role: .root, node: 0, remaining: 1)
  private var open: [Frame] = []
  /// Items inside tag 24 whose byte strings are chunked, by the string's node. Each item has its own joined bytes.
  private var joined: [Int: CBORTree] = [:]
  private var joinedItems = 0
  /// The check for long runs of combining marks in the current text.
  private var safety = StreamSafeText()

  /// A container whose children are being read.
  private struct Frame {
    /// The root contains the whole input. It is never closed.
    enum Role { case root, array, map, tag, chunks, embedded }
    var role: Role
    var node: Int
    /// The number of children left to read; nil for an indefinite length.
    var remaining: Int?
    var children = 0
    /// The limit to restore after an embedded item.
    var outerLimit = 0
  }

  static func tree(
    parsing bytes: [UInt8], in range: Range<Int>, depth: Int = 0, limits: CBORLimits
  ) throws(CBORError) -> CBORTree {
    // Nodes store offsets in 32 bits.
    guard range.count <= limits.bytes, range.upperBound <= Int(Int32.max) else {
      throw CBORError(.cborInputTooLarge, at: range.lowerBound)
    }
    return try bytes.withUnsafeBufferPointer { buffer throws(CBORError) in
      var decoder = CBORDecoder(bytes: buffer, range: range, depth: depth, limits: limits)
      try decoder.run()
      return CBORTree(bytes: bytes, nodes: decoder.nodes, joined: decoder.joined)
    }
  }

  /// The decoder must not outlive the buffer.
  private init(bytes: UnsafeBufferPointer<UInt8>, range: Range<Int>, depth: Int, limits: CBORLimits) {
    self.bytes = bytes
    self.limits = limits
    outerDepth = depth
    position = range.lowerBound
    limit = range.upperBound
    nodes.reserveCapacity(min(range.count / 6 + 8, 512))
    open.reserveCapacity(8)
  }

  private mutating func run() throws(CBORError) {
    repeat { try readOne() } while !open.isEmpty
    guard position == limit else { throw CBORError(.cborTrailingBytes, at: position) }
  }

  /// Reads one head (with the content of a string) and closes the containers that it completes.
  private mutating func readOne() throws(CBORError) {
    let start = position
    guard start < limit else { throw CBORError(.cborTruncated, at: start) }
    let (event, length) = try nextEvent()
    guard let kind = event.kind else { return try closeIndefinite(at: start) }
    if top.role == .chunks, kind != openStringKind || event.isIndefinite {
      throw CBORError(.cborMalformed, at: start)
    }
    guard nodes.count + joinedItems < limits.items else { throw CBORError(.cborTooManyItems, at: start) }
    let index = nodes.count
    position = start + length
    var node = CBORNode(kind: kind, start: Int32(start), content: Int32(position), value: event.value)
    switch kind {
    case .bytes, .text:
      if event.isIndefinite {
        node.isChunked = true
        safety = StreamSafeText()
        nodes.append(node)
        return try push(Frame(role: .chunks, node: index, remaining: nil), at: start)
      }
      let size = Int(event.value)
      node.content = Int32(position - size)
      if kind == .text { try requireUTF8(position - size..<position) }
      nodes.append(node)
      if kind == .bytes, isContentOfTag24 { return try enterEmbedded(index, size: size) }
      try complete(index)
    case .array, .map:
      nodes.append(node)
      let isMap = kind == .map
      let children = event.isIndefinite ? nil : try childCount(event.value, isMap: isMap, at: start)
      try push(Frame(role: isMap ? .map : .array, node: index, remaining: children), at: start)
      if children == 0 { try close() }
    case .tag:
      nodes.append(node)
      try push(Frame(role: .tag, node: index, remaining: 1), at: start)
    default:
      nodes.append(node)
      try complete(index)
    }
  }

  // MARK: Containers

  private mutating func push(_ frame: Frame, at offset: Int) throws(CBORError) {
    guard outerDepth + open.count < limits.depth else { throw CBORError(.cborNestingTooDeep, at: offset) }
    open.append(top)
    top = frame
  }

  /// Completes a leaf, then counts it in its container.
  private mutating func complete(_ index: Int) throws(CBORError) {
    nodes[index].end = Int32(position)
    nodes[index].next = Int32(nodes.count)
    try childCompleted()
  }

  /// Counts a child of the innermost container, and closes every container that it completes.
  private mutating func childCompleted() throws(CBORError) {
    while top.role != .root {
      top.children += 1
      guard let remaining = top.remaining else { return }
      top.remaining = remaining - 1
      guard remaining == 1 else { return }
      try closeTop()
    }
  }

  /// Closes the innermost container and counts it as a child of the next one.
  private mutating func close() throws(CBORError) {
    try closeTop()
    try childCompleted()
  }

  private mutating func closeTop() throws(CBORError) {
    let frame = top
    top = open.removeLast()
    if frame.role == .embedded {
      guard position == limit else { throw CBORError(.cborTrailingBytes, at: position) }
      limit = frame.outerLimit
    }
    if frame.role == .array || frame.role == .map { nodes[frame.node].value = UInt64(frame.children) }
    nodes[frame.node].end = Int32(position)
    nodes[frame.node].next = Int32(nodes.count)
    if frame.role == .map { try requireDistinctKeys(of: frame) }
    if frame.role == .chunks, isContentOfTag24 { try readJoinedChunks(frame.node) }
  }

  private mutating func closeIndefinite(at offset: Int) throws(CBORError) {
    guard top.remaining == nil, top.role != .map || top.children % 2 == 0 else {
      throw CBORError(.cborMalformed, at: offset)
    }
    position = offset + 1
    try close()
  }

  /// Reads the number of children of a head with a definite length. Each child needs at least one byte of the input.
  private mutating func childCount(_ claim: UInt64, isMap: Bool, at offset: Int) throws(CBORError) -> Int {
    let (children, overflow) = claim.multipliedReportingOverflow(by: isMap ? 2 : 1)
    guard !overflow, children <= UInt64(limits.bytes) else { throw CBORError(.cborLengthExceedsInput, at: offset) }
    guard children <= UInt64(limit - position) else { throw CBORError(.cborTruncated, at: offset) }
    return Int(children)
  }

  // MARK: Embedded CBOR (tag 24)

  private var isContentOfTag24: Bool { top.role == .tag && nodes[top.node].value == 24 }

  private mutating func enterEmbedded(_ index: Int, size: Int) throws(CBORError) {
    try push(Frame(role: .embedded, node: index, remaining: 1, outerLimit: limit), at: Int(nodes[index].start))
    limit = position
    position -= size
  }

  /// Joins chunks under tag 24 and parses them immediately. The rules for one string thus also apply to chunks.
  private mutating func readJoinedChunks(_ index: Int) throws(CBORError) {
    let offset = Int(nodes[index].start)
    guard nodes[index].kind == .bytes else { return }
    guard outerDepth + open.count < limits.depth else { throw CBORError(.cborNestingTooDeep, at: offset) }
    var content: [UInt8] = []
    for chunk in nodes[(index + 1)...] { content += bytes[Int(chunk.content)..<Int(chunk.end)] }
    var inner = limits
    inner.items -= nodes.count + joinedItems
    do throws(CBORError) {
      let tree = try CBORDecoder.tree(
        parsing: content, in: 0..<content.count, depth: outerDepth + open.count + 1, limits: inner)
      joinedItems += tree.nodes.count + tree.joined.values.reduce(0) { $0 + $1.nodes.count }
      joined[index] = tree
    } catch {
      throw CBORError(error.code, at: offset)
    }
  }

  // MARK: Strings and keys

  /// The kind that each chunk of the open string must have.
  private var openStringKind: CBORItem.Kind { nodes[top.node].kind == .text ? .text : .bytes }

  private mutating func requireUTF8(_ range: Range<Int>) throws(CBORError) {
    let utf8 = UnsafeBufferPointer(rebasing: bytes[range])
    let isASCII = isASCII(utf8)
    // All chunks form one text. An empty chunk therefore does not end a run of combining marks.
    if top.role != .chunks || isASCII && !utf8.isEmpty { safety = StreamSafeText() }
    if isASCII { return }
    guard let text = String(validating: utf8, as: UTF8.self), safety.takes(text) else {
      throw CBORError(.cborInvalidUTF8, at: range.lowerBound)
    }
  }

  /// Refuses duplicate keys. Keys are compared by value: `01` and `1801` are the same key.
  private mutating func requireDistinctKeys(of frame: Frame) throws(CBORError) {
    guard frame.children > 2 else { return }
    let duplicate = nodes.withUnsafeBufferPointer {
      CBORKeys(bytes: bytes, nodes: $0).firstDuplicate(inMapAt: frame.node)
    }
    if let duplicate { throw CBORError(.cborDuplicateKey, at: Int(nodes[duplicate].start)) }
  }

  // MARK: libcbor

  /// Reads the next event. Also returns the number of bytes read.
  private mutating func nextEvent() throws(CBORError) -> (CBOREvent, Int) {
    let start = position
    if let short = shortHead(at: start) { return short }
    var event = CBOREvent()
    let available = limit - start
    let result = withUnsafeMutablePointer(to: &event) { context in
      cbor_stream_decode(bytes.baseAddress.map { $0 + start }, available, CBOREvent.callbacks, context)
    }
    switch result.status {
    case CBOR_DECODER_FINISHED: return (event, result.read)
    case CBOR_DECODER_NEDATA:
      throw CBORError(claimsMoreThanAnyInput(at: start) ? .cborLengthExceedsInput : .cborTruncated, at: start)
    default: throw CBORError(refusal(at: start), at: start)
    }
  }

  /// Reads the complete head of an integer, a tag or a definite length, if its argument is below 2^16. Almost all heads
  /// in an mdoc are of this kind. libcbor reads the others and finds every fault. libcbor refuses the one-byte heads of
  /// tags 6 to 20. COSE now uses some of these tags.
  private mutating func shortHead(at start: Int) -> (CBOREvent, Int)? {
    let head = bytes[start]
    let available = limit - start
    let argument: (value: Int, bytes: Int)
    switch head & 0x1f {
    case 0...23: argument = (Int(head & 0x1f), 0)
    case 24 where available > 1: argument = (Int(bytes[start + 1]), 1)
    case 25 where available > 2: argument = (Int(bytes[start + 1]) << 8 | Int(bytes[start + 2]), 2)
    default: return nil
    }
    let kind: CBORItem.Kind
    switch head >> 5 {
    case 0: kind = .unsigned
    case 1: kind = .negative
    case 2: kind = .bytes
    case 3: kind = .text
    case 4: kind = .array
    case 5: kind = .map
    case 6: kind = .tag
    default: return nil
    }
    let content = kind == .bytes || kind == .text ? argument.value : 0
    let length = 1 + argument.bytes + content
    return length <= available ? (CBOREvent(kind: kind, value: UInt64(argument.value)), length) : nil
  }

  /// The code for a head that libcbor refuses. libcbor also refuses unassigned simple values. Unassigned simple values
  /// are well-formed up to 23 in one byte, and from 32 in two bytes (RFC 8949, 3.3).
  private func refusal(at start: Int) -> Code {
    switch bytes[start] {
    case 0xe0...0xf3: .cborSimpleValueUnassigned
    case 0xf8 where limit - start == 1: .cborTruncated
    case 0xf8 where bytes[start + 1] >= 32: .cborSimpleValueUnassigned
    default: .cborMalformed
    }
  }

  /// True if the string head claims a length beyond the limit; false if the string is truncated.
  private func claimsMoreThanAnyInput(at start: Int) -> Bool {
    let argumentBytes: Int
    switch bytes[start] {
    case 0x5a, 0x7a: argumentBytes = 4
    case 0x5b, 0x7b: argumentBytes = 8
    default: return false
    }
    guard limit - start > argumentBytes else { return false }
    let claim = bytes[(start + 1)...(start + argumentBytes)].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    return claim > UInt64(limits.bytes)
  }
}

/// True if every byte is below 0x80. Reads eight bytes at a time.
private func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
  let raw = UnsafeRawBufferPointer(text)
  var offset = 0
  while offset + 8 <= raw.count {
    guard raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 else { return false }
    offset += 8
  }
  return raw[offset...].allSatisfy { $0 < 0x80 }
}

/// The bounds for parsing one input.
package struct CBORLimits: Sendable {
  package var bytes: Int
  package var items: Int
  package var depth: Int

  package init(bytes: Int = Limits.responseBytes, items: Int = Limits.cborItems, depth: Int = Limits.cborDepth) {
    self.bytes = bytes
    self.items = items
    self.depth = depth
  }
}

extension Code {
  public static let cborTruncated = Code(
    "cbor.truncated", "The CBOR ends in the middle of an item", "RFC 8949, 3", .cbor)
  public static let cborTrailingBytes = Code(
    "cbor.trailing_bytes", "Bytes follow the one complete CBOR item", "RFC 8949, 5.1", .cbor)
  public static let cborDuplicateKey = Code(
    "cbor.duplicate_key", "A CBOR map has a duplicate key", "RFC 8949, 5.6", .cbor)
  public static let cborInvalidUTF8 = Code(
    "cbor.invalid_utf8", "A CBOR text string is not UTF-8, or has more than 30 combining marks in a row",
    "RFC 8949, 3.1; UAX #15, 13", .cbor)
  public static let cborMalformed = Code(
    "cbor.malformed", "The bytes are not well-formed CBOR", "RFC 8949, 3 and appendix C", .cbor)
  public static let cborNestingTooDeep = Code(
    "cbor.nesting_too_deep", "The CBOR is nested more deeply than any mdoc", "RFC 8949, 10", .cbor)
  public static let cborLengthExceedsInput = Code(
    "cbor.length_exceeds_input", "A CBOR head claims more bytes or items than any input may hold",
    "RFC 8949, 10", .cbor)
  public static let cborTooManyItems = Code(
    "cbor.too_many_items", "The CBOR has more items than any mdoc", "RFC 8949, 10", .cbor)
  public static let cborInputTooLarge = Code(
    "cbor.input_too_large", "The response is larger than the limit", "RFC 8949, 10", .wallet)
  public static let cborTagUnsupported = Code(
    "cbor.tag_unsupported", "The structure needs a plain item, but has a CBOR tag, which is not expanded",
    "RFC 8949, 3.4", .cbor)
  public static let cborSimpleValueUnassigned = Code(
    "cbor.simple_value_unassigned", "The CBOR has an unassigned simple value", "RFC 8949, 3.3 and 5.3", .cbor)
}

extension Code.Remedy {
  static let cbor: Self =
    "Ask again, and report it if it persists: to the issuer if the detail names data that it signed, otherwise to "
    + "the wallet's "
    + "maker."
}

extension CodeGroup {
  public static let cbor = CodeGroup(
    "CBOR, of the envelope and of the response",
    [
      .cborTruncated, .cborTrailingBytes, .cborDuplicateKey, .cborInvalidUTF8, .cborMalformed, .cborNestingTooDeep,
      .cborLengthExceedsInput, .cborTooManyItems, .cborInputTooLarge, .cborTagUnsupported, .cborSimpleValueUnassigned,
    ])
}
