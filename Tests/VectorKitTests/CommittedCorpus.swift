import VectorKit

/// The committed corpus, found from this file.
enum CommittedCorpus {
  static let path = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/TestVectors"

  static func suite() throws -> VectorSuite { try VectorSuite(at: path) }
}
