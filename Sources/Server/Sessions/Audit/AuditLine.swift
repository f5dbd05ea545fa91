import Base

/// One line of an exported audit log (JSON Lines): an entry in its place, or the head that a node's chain had.
///
/// An entry's text is a JSON string of its own, so that the bytes that were hashed are kept:
/// `{"node","sequence","entry","hash"}`, and `{"node","head","hash"}` for a head, where `head` is its sequence.
package enum AuditLine: Sendable, Hashable {
  case entry(AuditLink)
  case head(AuditHead)

  /// Without the end of the line.
  package var bytes: [UInt8] {
    switch self {
    case .entry(let link):
      let json: JSON = [
        "node": .string(link.head.node.text), "sequence": .integer(link.head.sequence),
        "entry": .string(String(decoding: link.entry, as: UTF8.self)), "hash": .string(Hex.encode(link.head.hash)),
      ]
      return json.serialized()
    case .head(let head):
      let json: JSON = [
        "node": .string(head.node.text), "head": .integer(head.sequence), "hash": .string(Hex.encode(head.hash)),
      ]
      return json.serialized()
    }
  }

  /// Nil where the bytes are no such line.
  package init?(parsing bytes: [UInt8]) {
    guard let json = try? JSON(parsing: bytes), let members = json.object, let hash = json["hash"]?.string,
      let digest = Hex.decode(hash), digest.count == 32, Hex.encode(digest) == hash,
      let node = json["node"]?.string.flatMap(NodeName.init)
    else { return nil }
    if members.count == 4, let sequence = json["sequence"]?.integer, Self.sequences.contains(sequence),
      let entry = json["entry"]?.string
    {
      self = .entry(
        AuditLink(head: AuditHead(node: node, sequence: sequence, hash: digest), entry: Array(entry.utf8)))
    } else if members.count == 3, let sequence = json["head"]?.integer, Self.sequences.contains(sequence) {
      self = .head(AuditHead(node: node, sequence: sequence, hash: digest))
    } else {
      return nil
    }
  }

  /// Lines as they are sent and written.
  package static func bytes(of lines: [AuditLine]) -> [UInt8] { lines.flatMap { $0.bytes + [UInt8(ascii: "\n")] } }

  /// The last number has no successor.
  private static let sequences = 1..<Int64.max

  package static let mediaType = "application/jsonl"
}
